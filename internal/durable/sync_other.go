//go:build !unix

package durable

// SyncDir does nothing: directories cannot be flushed here.
func SyncDir(string) error { return nil }
