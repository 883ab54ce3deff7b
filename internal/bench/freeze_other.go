//go:build !unix

package bench

import (
	"errors"
	"os"
)

var errNoSignals = errors.New("bench: this system cannot stop and continue a process")

func freeze(*os.Process) error { return errNoSignals }

func thaw(*os.Process) error { return errNoSignals }
