package durable

import (
	"os"

	"golang.org/x/sys/windows"
)

// Rename gives a file another name, or that of a file which it replaces. The name is on the disk
// then, as directories cannot be flushed here.
func Rename(from, to string) error {
	if err := moveThrough(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func moveThrough(from, to string) error {
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(old, name, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
}
