package failaware

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/failaware/failaware/timed"
)

// stateFiles is what a node keeps in its state directory: a lock against other
// processes with the same id, and the longest time for which it may have voted.
type stateFiles struct {
	mu     sync.Mutex
	lock   *os.File
	path   string
	id     NodeID
	stored time.Duration // what the file says
	start  time.Duration // what it said when this process began, or the configured value if larger
}

const stateMode = 0o600

// openState locks the state of a node, and makes sure that the file says at
// least maxLock before anything is voted.
func openState(dir string, id NodeID, maxLock time.Duration) (*stateFiles, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("failaware: the state directory: %w", err)
	}
	f := &stateFiles{id: id, path: filepath.Join(dir, fmt.Sprintf("node-%v.state", id))}
	lockPath := filepath.Join(dir, fmt.Sprintf("node-%v.lock", id))
	var err error
	if f.lock, err = os.OpenFile(lockPath, os.O_CREATE|os.O_RDWR, stateMode); err != nil {
		return nil, fmt.Errorf("failaware: the state directory: %w", err)
	}
	if err := lockFile(f.lock); err != nil {
		_ = f.lock.Close()
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("%w: node %v already runs with the state directory %s", ErrInUse, id, dir)
		}
		return nil, fmt.Errorf("failaware: cannot lock %s: %w", lockPath, err)
	}
	if err := f.load(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.start = max(f.stored, maxLock)
	if err := f.raise(maxLock); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// load reads the file, if there is one.
func (f *stateFiles) load() error {
	b, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("failaware: the state directory: %w", err)
	}
	if f.stored, err = parseState(string(b), f.id); err != nil {
		return fmt.Errorf("%w: %s: %w; if no node %v has run within the last hour, remove the file",
			ErrDamaged, f.path, err, f.id)
	}
	return nil
}

// The file is one line of text with a checksum, so that people can read it and
// damage is noticed.
func formatState(id NodeID, maxLock time.Duration) string {
	text := fmt.Sprintf("failaware 1 node %d maxlock %d", id, maxLock.Nanoseconds())
	return fmt.Sprintf("%s crc %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

func parseState(s string, id NodeID) (time.Duration, error) {
	var version, node int
	var nanos int64
	var sum uint32
	if _, err := fmt.Sscanf(s, "failaware %d node %d maxlock %d crc %x\n", &version, &node, &nanos, &sum); err != nil {
		return 0, errors.New("it is not a state file")
	}
	d := time.Duration(nanos)
	switch {
	case version != 1:
		return 0, fmt.Errorf("its version is %d, and only 1 is known", version)
	case s != formatState(NodeID(node), d):
		return 0, errors.New("its checksum is wrong")
	case NodeID(node) != id || node != int(id):
		return 0, fmt.Errorf("it belongs to node %d", node)
	case d < 0 || d > timed.MaxDuration:
		return 0, fmt.Errorf("its lock time %v is outside [0, %v]", d, timed.MaxDuration)
	}
	return d, nil
}

// raise writes maxLock durably unless the file already says as much.
func (f *stateFiles) raise(maxLock time.Duration) error {
	if maxLock <= f.stored {
		return nil
	}
	return f.write(maxLock)
}

// lower writes a smaller maxLock. It may be called only when no vote of an
// earlier run can be in force any more.
func (f *stateFiles) lower(maxLock time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil || maxLock >= f.stored {
		return nil
	}
	return f.write(maxLock)
}

func (f *stateFiles) write(maxLock time.Duration) error {
	if err := writeDurably(f.path, formatState(f.id, maxLock)); err != nil {
		return fmt.Errorf("failaware: cannot write the state: %w", err)
	}
	f.stored = maxLock
	return nil
}

// writeDurably replaces a file, so that after a crash it has either the old or
// the new content.
func writeDurably(path, content string) (err error) {
	next := path + ".new"
	file, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, stateMode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// close gives the lock back. It is fine on nil, and again.
func (f *stateFiles) close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil {
		return nil
	}
	err := f.lock.Close() // ends the lock; the file stays, or two processes could lock different ones
	f.lock = nil
	return err
}
