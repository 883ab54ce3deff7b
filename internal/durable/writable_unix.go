//go:build unix

package durable

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// writable returns the error of creating a file in a directory, as far as its mode and its file
// system say.
func writable(dir string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}
