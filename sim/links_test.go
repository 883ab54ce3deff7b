package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// The links of a process that joins a world are as all others are: without the
// weather they would take no time at all, which no clock can make sense of.
func TestRivalsHaveTheWeather(t *testing.T) {
	w, err := New(1, Options{Calm: true})
	require.NoError(t, err)
	require.NoError(t, w.Run(time.Second))
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Rival, Node: 2, For: time.Second}))
	require.Len(t, w.Nodes(), 6)
	for i := range w.links {
		for j := range w.links[i] {
			require.Equal(t, w.links[0][1], w.links[i][j], "%d to %d", i, j)
		}
	}
	require.NotZero(t, w.links[0][1].min)
	require.Equal(t, w.nodes[0].slow, w.nodes[5].slow)
}

// A node that has taken another off its list neither sends to it nor takes its packets, and
// both go on alone. Once it is back on the list they are in one view again.
func TestAnUnlistedPeerIsForgottenAndLearntAgain(t *testing.T) {
	w, err := New(1, Options{Calm: true, Nodes: 2})
	require.NoError(t, err)
	together := func() bool {
		v, fresh := w.nodes[0].View()
		return fresh && v.Set == timed.SetOf(1, 2)
	}
	require.NoError(t, w.Run(2*time.Second))
	require.True(t, together())
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Unlist, Node: 1, Peer: 2, For: 2 * time.Second}))
	require.True(t, w.nodes[0].proc.Stack.Datagram().Peers().Empty())
	require.NoError(t, w.Run(time.Second))
	for _, n := range w.nodes {
		v, fresh := n.View()
		require.True(t, fresh)
		require.Equal(t, timed.SetOf(n.ID()), v.Set)
	}
	require.NoError(t, w.Run(3*time.Second))
	require.True(t, together())
}
