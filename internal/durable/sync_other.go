//go:build !unix

package durable

// syncDir does nothing: directories cannot be flushed here.
func (system) syncDir(string) error { return nil }
