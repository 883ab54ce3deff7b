package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// figure24 returns the local leaders of a connectivity graph as figure 24 of Fetzer and
// Cristian computes them. It takes the processes in the order of their ids. A process
// leads unless it, or a process connected to it, is marked, and then it marks itself
// and all that are connected to it: their votes go to no later process.
func figure24(nodes int, edges [][2]timed.NodeID) (leaders timed.Set) {
	near := make([]timed.Set, nodes+1)
	for i := 1; i <= nodes; i++ {
		near[i].Add(timed.NodeID(i))
	}
	for _, e := range edges {
		near[e[0]].Add(e[1])
		near[e[1]].Add(e[0])
	}
	var marked timed.Set
	for i := 1; i <= nodes; i++ {
		if near[i].Intersect(marked).Empty() {
			leaders.Add(timed.NodeID(i))
		}
		marked = marked.Union(near[i])
	}
	return leaders
}

// In every connectivity that is held still, mode strict with rank id elects exactly the
// leaders of the paper.
func TestLeadersOfMaximumConnectedSets(t *testing.T) {
	several := 0
	for seed := uint64(1); seed <= 60; seed++ {
		opt := Options{Nodes: 7, Mode: leader.Strict, RankBy: leader.ByID}
		r, err := RunTopology(seed, opt)
		require.NoError(t, err)
		require.Nil(t, r.Violation, "seed %d", seed)
		want := figure24(opt.Nodes, r.Topology.Edges)
		require.Equal(t, want, r.Topology.Leaders, "seed %d: connected are %v", seed, r.Topology.Edges)
		if want.Len() > 1 {
			several++
		}
	}
	require.NotZero(t, several)
}

func TestFigure24(t *testing.T) {
	require.Equal(t, timed.SetOf(1), figure24(3, [][2]timed.NodeID{{1, 2}, {2, 3}}), "the trio")
	require.Equal(t, timed.SetOf(1), figure24(4, [][2]timed.NodeID{{1, 2}, {2, 3}, {3, 4}}))
	require.Equal(t, timed.SetOf(1, 2), figure24(4, [][2]timed.NodeID{{1, 3}, {2, 4}}))
}
