//go:build mutants

package store

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/planted"
)

// Each planted bug of the store is noticed by a world of its test.
func TestMutantsAreKilled(t *testing.T) {
	for name, noticed := range map[string]func(*testing.T) bool{
		"KvReadsLocally": func(t *testing.T) bool {
			for seed := range uint64(40) {
				if ok, _ := play(t, seed); !ok {
					return true
				}
			}
			return false
		},
		"KvNameTwice": func(*testing.T) bool { return !namesDiffer() },
		"KvNoStandIn": func(t *testing.T) bool { return !endsWithoutTheFirst(t) },
	} {
		t.Run(name, func(t *testing.T) {
			mutant.Set(name)
			defer mutant.Set(mutant.None)
			if !noticed(t) {
				t.Error("not noticed")
			}
		})
	}
	if planted.TestName != "TestMutantsAreKilled" {
		t.Error("the table names another test")
	}
}
