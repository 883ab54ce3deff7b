package failaware_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// A node that is cut off leads its part of the group for longer than the group. Who searches
// for the global leader is promised no more than the global lead.
func TestAGlobalSearchPromisesTheGlobalLead(t *testing.T) {
	exceeds, apart := globalSearches(t)
	require.Positive(t, apart, "the test shows nothing if both leads last equally long")
	require.Zero(t, exceeds)
}

// globalSearches cuts off the global leader. It returns how often the promise of its searches
// exceeded the global lead, and how often it would do so if it were about the local one.
func globalSearches(t *testing.T) (exceeds, apart int) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
		require.NoError(t, err)
		dir := t.TempDir()
		var first *failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Transport: net.Transport(), Quorum: majority, StateDir: dir})
			require.NoError(t, err)
			defer n.Close()
			if first == nil {
				first = n
			}
		}
		a, err := first.WaitGlobalLeader(t.Context())
		require.NoError(t, err)
		require.Equal(t, first.ID(), a.Leader)
		net.Partition([]failaware.NodeID{1}, []failaware.NodeID{2, 3})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for ; ; time.Sleep(time.Millisecond) {
			v, err := first.FindGlobalLeader(ctx)
			if err != nil {
				require.ErrorIs(t, err, failaware.ErrNoLeader)
				return // it leads its part only, and finds nobody else
			}
			local, err := first.Verify(ctx, first.ID())
			require.NoError(t, err)
			if local.ValidFor() > v.GlobalValidFor() {
				apart++
			}
			if v.ValidFor() > v.GlobalValidFor() {
				exceeds++
			}
		}
	})
	return exceeds, apart
}
