//go:build !linux

package main

import "os"

// self returns the path of this program. Another program may be there in the meantime.
func self() (string, error) { return os.Executable() }

// takeName does nothing: this process has the name of its file.
func takeName() {}
