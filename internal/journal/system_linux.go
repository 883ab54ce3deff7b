package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate reserves blocks, so that flushes of batches have less to write: the size of
// the file does not change. Not all file systems can.
func allocate(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		}
		return err
	}
}

// flush flushes content and size, and leaves out the times of the file.
func flush(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
