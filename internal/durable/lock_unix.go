//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// unlock does nothing: the lock ends when the file is closed.
func unlock(*os.File) error { return nil }

// lock takes the lock of an open file without waiting. It ends with the
// file's last descriptor, so a crash leaves none behind.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}
