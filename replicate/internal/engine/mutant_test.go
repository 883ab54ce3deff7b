//go:build mutants

package engine

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	places := func(t testing.TB) { keepsPlaces(t, 200) }
	kill.Units(t, "replicate/internal/engine", map[string]func(testing.TB){
		"StoreContinuesReplaced":  places,
		"StorePositionsUnwritten": places,
		"StorePositionsLate":      places,
		"StorePositionsTruncated": places,
		"StoreFullEnds":           snapshotWaits,
	})
}
