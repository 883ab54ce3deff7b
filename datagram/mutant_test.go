//go:build mutants

package datagram

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// The duel would be worth nothing if it did not notice a bound without drift,
// or without the sign rule for overtaken packets.
func TestWrongBoundsAreNoticed(t *testing.T) {
	for _, id := range []mutant.ID{mutant.DelayWithoutG, mutant.DelayWithoutDrift} {
		mutant.Set(id)
		var err error
		for seed := 0; seed < 400 && err == nil; seed++ {
			err = drawEncounter.Example(seed).play(&seen{})
		}
		mutant.Set(mutant.None)
		require.Error(t, err, "mutant %d", id)
		t.Log(err)
	}
}
