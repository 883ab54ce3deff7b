package durable

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/failaware/failaware/internal/trust"
)

// ErrLocked: another process, or another owner in this one, holds the lock.
var ErrLocked = errors.New("durable: locked")

// Lock is the right of one owner to write certain files.
type Lock struct{ file *os.File }

// TakeLock takes the lock of a file, without waiting, and creates the file if there is
// none. The error matches [ErrLocked] when another owner holds it, and
// [trust.ErrUntrusted] when other users may open the file. The lock ends with Release,
// or with the process.
func TakeLock(path string) (*Lock, error) {
	f, err := trust.Open(path, os.O_CREATE|os.O_RDWR, fileMode, trust.Private)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		_ = f.Close()
		if errors.Is(err, ErrLocked) {
			return nil, err
		}
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

// AwaitLock is [TakeLock], but waits for a while for another owner to release the lock.
func AwaitLock(path string, patience time.Duration) (*Lock, error) {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		l, err := TakeLock(path)
		if !errors.Is(err, ErrLocked) || !time.Now().Before(end) {
			return l, err
		}
	}
}

// mark is the content of the file of a lock whose owner has called Mark.
const mark = "used\n"

// Mark notes in the file of the lock, which is otherwise empty, that the owner has written what
// the lock is for. So a later owner notices its loss.
func (l *Lock) Mark() error {
	_, err := l.file.WriteAt([]byte(mark), 0)
	return errors.Join(err, l.file.Sync())
}

// Marked reports whether an owner has called Mark.
func (l *Lock) Marked() (bool, error) {
	info, err := l.file.Stat()
	if err != nil {
		return false, err
	}
	return info.Size() > 0, nil
}

// Release releases the lock. It may be called on nil, and again. The file stays,
// because otherwise two processes could lock different files of one name.
func (l *Lock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	err := errors.Join(unlock(l.file), l.file.Close())
	l.file = nil
	return err
}
