//go:build mutants

package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/failaware/failaware/internal/mutant"
)

// planted names the bug that the simulator's nodes have.
var planted string

// plantFlag adds the flag that plants a bug, so that its shrunk case can be
// found, looked at and kept. Only builds with the tag mutants have it.
func plantFlag(fl *pflag.FlagSet) {
	fl.StringVar(&planted, "mutant", "", "plant this bug in all nodes")
}

// plant switches the bug on.
func plant() error {
	if planted == "" {
		return nil
	}
	for id := mutant.None; int(id) < mutant.Count; id++ {
		if id.String() == planted {
			mutant.Set(id)
			return nil
		}
	}
	return fmt.Errorf("--mutant: there is no planted bug %q", planted)
}
