package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckDir returns an error if this process could not create files in a directory, or, where
// that is missing, in the one in which [MakeDir] would begin. It changes nothing.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	switch above := filepath.Dir(dir); {
	case errors.Is(err, fs.ErrNotExist) && above != dir:
		return CheckDir(above)
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	return writable(dir)
}
