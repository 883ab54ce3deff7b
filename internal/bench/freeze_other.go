//go:build !unix

package bench

import (
	"errors"
	"os"
)

var errNoSignals = errors.New("bench: this system cannot stop a process and have it go on")

func freeze(*os.Process) error { return errNoSignals }

func thaw(*os.Process) error { return errNoSignals }
