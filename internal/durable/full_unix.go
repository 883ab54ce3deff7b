//go:build unix

package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Full reports whether an error says that the disk, or a quota, has no room.
func Full(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// Exhausted reports whether the process, or the system, can open no more files.
func Exhausted(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}
