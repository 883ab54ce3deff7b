package statedir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/failaware/failaware/internal/durable"
)

var (
	// ErrInUse: another process holds the lock for the id.
	ErrInUse = errors.New("failaware: the state is locked by another process")
	// ErrDamaged: a file does not hold what was written there.
	ErrDamaged = errors.New("failaware: damaged state")
	// ErrFull: the disk has no room, or no more files can be opened. What was to be written does
	// not count, and the call may be made again.
	ErrFull = durable.ErrFull

	// errClosed: the files belong to the present holder of the lock.
	errClosed = errors.New("failaware: the state directory is closed")
)

// systemError returns an error of the system with the setting that it is about.
func systemError(err error) error { return fmt.Errorf("failaware: StateDir: %w", err) }

// readError returns the error of reading a file. That of a damaged file says the remedy.
func readError(err error, remedy string) error {
	if _, damaged := errors.AsType[*durable.DamagedError](err); damaged {
		return fmt.Errorf("%w: %w; %s", ErrDamaged, err, remedy)
	}
	return systemError(err)
}

// takeLock makes a directory, and locks it with a file there for the node that the error names.
func takeLock(dir, file, node string) (*durable.Lock, error) {
	if err := durable.MakeDir(dir); err != nil {
		return nil, systemError(err)
	}
	lock, err := durable.TakeLock(filepath.Join(dir, file))
	if errors.Is(err, durable.ErrLocked) {
		return nil, fmt.Errorf("%w: %s already runs with the state directory %s", ErrInUse, node, dir)
	}
	if err != nil {
		return nil, systemError(err)
	}
	return lock, nil
}
