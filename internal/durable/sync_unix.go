//go:build unix

package durable

import (
	"errors"
	"os"
)

// syncDir makes a renaming in a directory durable.
func (system) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
