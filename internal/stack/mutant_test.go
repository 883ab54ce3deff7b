//go:build mutants

package stack

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

// A slow hop or another incarnation's word costs no promise that the simulator
// checks: the vote itself is a fact however late it is told. What they would
// break is that who is counted on is within Δ.
func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/stack", map[string]func(testing.TB){
		"CollateSlowHops":  slowHop,
		"RelayedOfAnyBoot": otherBoot,
	})
}
