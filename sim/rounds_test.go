package sim

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/fault"
)

// What is promised of collated replies: the leader hears its children, and now and
// then the others, and a round costs the group no more packets than before.
func TestCollatedRoundsCostTheLeaderLess(t *testing.T) {
	weather := fault.Baseline{MinDelay: 100 * time.Microsecond, MaxDelay: 500 * time.Microsecond, Lateness: 100 * time.Microsecond}
	measure := func(nodes int, c leader.Collation) *Rounds {
		r, err := MeasureRounds(context.Background(), 1, Options{Nodes: nodes, Collation: c}, weather, 32, 2)
		require.NoError(t, err)
		require.Equal(t, 32, r.Count)
		require.Len(t, r.Times, 32)
		require.Len(t, r.Elections, 2)
		require.Len(t, r.Returns, 2)
		return r
	}
	for _, nodes := range []int{16, 48} {
		n := float64(nodes)
		direct := measure(nodes, leader.Collation{})
		collated := measure(nodes, leader.Collation{Above: 8, Fanout: 4})
		require.InDelta(t, n-1, direct.Received, 1)
		require.InDelta(t, n-1, direct.Answers, 1)
		require.InDelta(t, 4+(n-5)/8, collated.Received, 1, "children, and an eighth of the others' keepalives")
		require.InDelta(t, n-1, collated.Answers, 1, "a round stays linear")
		require.LessOrEqual(t, collated.Group, direct.Group+n/8, "besides, the others send keepalives to the leader")
		require.Less(t, collated.Received, direct.Received/2)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := MeasureRounds(ctx, 1, Options{Nodes: 3}, weather, 1, 0)
	require.ErrorIs(t, err, context.Canceled)
	_, err = MeasureRounds(context.Background(), 1, Options{Nodes: 256}, weather, 1, 0)
	require.ErrorContains(t, err, "256 nodes")
}
