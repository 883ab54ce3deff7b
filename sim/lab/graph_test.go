package lab

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/sim/internal/clique"
	"github.com/failaware/failaware/timed"
)

func anyGraph(t *rapid.T, most int) (g graph, n int) {
	n = rapid.IntRange(1, most).Draw(t, "n")
	for i := range n {
		p := timed.NodeID(i + 1)
		g.up |= bit(p)
		g.connected[i] |= bit(p)
		for j := range i {
			if rapid.Bool().Draw(t, "edge") {
				g.connected[i] |= bit(timed.NodeID(j + 1))
				g.connected[j] |= bit(p)
			}
		}
	}
	g.touching, g.near = g.connected, g.connected
	return g, n
}

func (g *graph) isClique(m mask) bool {
	for id := m.next(0); id != 0; id = m.next(id) {
		if m&^g.of(id) != 0 {
			return false
		}
	}
	return true
}

func TestCliquesAreAllMaximalOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, n := anyGraph(t, 8)
		want := map[mask]bool{}
		for m := mask(1); m < 1<<n; m++ {
			maximal := g.isClique(m)
			for i := range n {
				if b := mask(1) << i; m&b == 0 && g.isClique(m|b) {
					maximal = false
				}
			}
			if maximal {
				want[m] = true
			}
		}
		got := map[mask]bool{}
		for _, m := range g.cliques() {
			require.False(t, got[m], "twice")
			got[m] = true
		}
		require.Equal(t, want, got)
	})
}

// cheapest covers a set by cliques, trying everything.
func (g *graph) cheapest(rest mask) int {
	if rest == 0 {
		return 0
	}
	first, best := bit(rest.next(0)), MaxProcesses
	for sub := rest; sub > 0; sub = (sub - 1) & rest {
		if sub&first != 0 && g.isClique(sub) {
			best = min(best, 1+g.cheapest(rest&^sub))
		}
	}
	return best
}

func TestCoverIsTheSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := anyGraph(t, 7)
		require.Equal(t, g.cheapest(g.up), g.cover())
	})
	var wide graph
	wide.up = 1<<(clique.MaxNodes+1) - 1
	require.Zero(t, wide.cover(), "too many")
}

func TestPartitionsAndReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, n := anyGraph(t, 8)
		parts := map[mask]bool{}
		for _, m := range g.partitions() {
			parts[m] = true
		}
		for i := range n {
			p := timed.NodeID(i + 1)
			r := g.reach(p)
			require.True(t, r.has(p))
			for q := r.next(0); q != 0; q = r.next(q) {
				require.Equal(t, r, g.reach(q))
				require.Zero(t, g.of(q)&^r)
			}
			require.Equal(t, g.isClique(r), parts[r], "a component is a Δ-partition if it is a clique")
		}
	})
}

func TestNearbySlownessEndsPartitions(t *testing.T) {
	var g graph
	g.up = 3
	g.connected[0], g.connected[1] = 1, 2
	g.touching, g.near = g.connected, g.connected
	require.Len(t, g.partitions(), 2)
	g.touching[0], g.touching[1] = 3, 3
	require.Len(t, g.partitions(), 2, "slower than Δ")
	require.False(t, g.crisp())
	g.near = g.touching
	require.Empty(t, g.partitions(), "slower than δ, but not than Δ")
	g.connected = g.touching
	require.True(t, g.whole() && g.crisp())
}

func TestMask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mask(rapid.Uint64().Draw(t, "mask"))
		require.Equal(t, m, maskOf(m.set()))
		require.Equal(t, m.len(), m.set().Len())
	})
}
