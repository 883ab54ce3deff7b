//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package durable

import (
	"errors"
	"os"
)

func unlock(*os.File) error { return nil }

// lock fails: these systems have no lock that ends with the process, and a state
// directory without a lock would be unsafe.
func lock(*os.File) error { return errors.ErrUnsupported }
