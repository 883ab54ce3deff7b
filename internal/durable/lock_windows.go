package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// unlock releases the lock of an open file. Without it, the system releases the lock some time after
// the file was closed.
func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

// lock takes the lock of an open file without waiting. It ends with the
// process, so a crash leaves none behind.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
