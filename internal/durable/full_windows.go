package durable

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Full reports whether an error says that the disk has no room.
func Full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// Exhausted reports whether the process can open no more files.
func Exhausted(err error) bool { return errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES) }
