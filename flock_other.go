//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package failaware

import (
	"errors"
	"os"
)

var errLocked = errors.New("locked")

// lockFile fails: there is no lock here that ends with the process, and a state
// directory without one would promise too much.
func lockFile(*os.File) error { return errors.ErrUnsupported }
