//go:build mutants

package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func TestHandOverNoticesHoldOfTheSnapshot(t *testing.T) {
	mutant.Set("HoldOfTheSnapshot")
	defer mutant.Set(mutant.None)
	const tries = 5
	for range tries {
		if handedOver(t) > 0 {
			return
		}
	}
	require.Fail(t, "the next leader always waited")
}

func TestSearchNoticesLocalForGlobal(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	n := startNode(t, Config{ID: 1, Quorum: q})
	waitElected(t, n)
	_, _, err = n.search(t.Context(), n.ID(), true)
	require.ErrorIs(t, err, ErrNoLeader)
	mutant.Set("LocalForGlobal")
	defer mutant.Set(mutant.None)
	v, _, err := n.search(t.Context(), n.ID(), true)
	require.NoError(t, err)
	require.Zero(t, v.GlobalValidFor())
}

func TestWakesNoticesContextSleepsOn(t *testing.T) {
	mutant.Set("ContextSleepsOn")
	defer mutant.Set(mutant.None)
	require.Positive(t, wakes(t))
}
