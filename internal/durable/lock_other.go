//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package durable

import (
	"errors"
	"os"
)

// lock fails: there is no lock here that ends with the process, and a state
// directory without one would promise too much.
func lock(*os.File) error { return errors.ErrUnsupported }
