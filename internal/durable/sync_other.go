//go:build !unix

package durable

// Dir is a directory. Directories cannot be flushed here: [Rename] returns when the new name is on
// the disk, and a file that was removed may come back.
type Dir struct{}

// OpenDir returns a directory.
func OpenDir(string) (*Dir, error) { return new(Dir), nil }

// Sync does nothing.
func (*Dir) Sync() error { return nil }

// Close does nothing.
func (*Dir) Close() error { return nil }

// SyncDir does nothing.
func SyncDir(string) error { return nil }
