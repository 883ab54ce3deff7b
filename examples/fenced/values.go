package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
)

// values is a directory with a file for each key.
type values string

func (v values) path(key string) string { return filepath.Join(string(v), "="+url.PathEscape(key)) }

func (v values) get(key string) ([]byte, error) { return os.ReadFile(v.path(key)) }

// put replaces a value. It waits for the disk: the fence remembers the edict, so a
// value that was lost afterwards would not be written again. (Directories cannot be
// flushed on Windows; the example is for other systems.)
func (v values) put(key string, value []byte) error {
	f, err := os.CreateTemp(string(v), "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // has no effect after the renaming
	_, err = f.Write(value)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), v.path(key)); err != nil {
		return err
	}
	d, err := os.Open(string(v))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
