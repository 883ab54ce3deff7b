//go:build unix

package durable

import (
	"errors"
	"os"
)

// Dir is a directory whose names can be made durable again and again, although no more files can
// be opened. The nil *Dir is of no directory.
type Dir struct{ file *os.File }

// OpenDir opens a directory.
func OpenDir(dir string) (*Dir, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{f}, nil
}

// Sync makes the names in the directory durable.
func (d *Dir) Sync() error { return d.file.Sync() }

// Close closes the directory.
func (d *Dir) Close() error {
	if d == nil {
		return nil
	}
	return d.file.Close()
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
