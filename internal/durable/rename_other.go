//go:build !windows

package durable

import "os"

// Rename gives a file another name, or that of a file which it replaces. The caller flushes the
// directory.
func Rename(from, to string) error { return os.Rename(from, to) }
