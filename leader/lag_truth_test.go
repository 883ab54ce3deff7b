package leader

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// leaders returns the nodes that lead now, by their own clocks.
func (g *lag) leaders() (all []*lagged) {
	for _, n := range g.nodes {
		if n.Leads(n.clock(g.now)) {
			all = append(all, n)
		}
	}
	return all
}

// judge demands that no node supports two leaders, that one leads globally, and that what nodes
// were assured of is true.
func (g *lag) judge() {
	all, global := g.leaders(), map[QuorumID]int{}
	var support timed.Set
	for _, n := range all {
		require.True(g.t, support.Intersect(n.Support()).Empty(), "seed %d at %v: node %v and others lead with the same support", g.seed, g.now, n.self)
		support = support.Union(n.Support())
		if n.LeadsGlobally(n.clock(g.now)) {
			global[n.QuorumID()]++
			g.met["led globally"]++
		}
	}
	for id, n := range global {
		require.Equal(g.t, 1, n, "seed %d at %v: several lead globally in %v", g.seed, g.now, id)
	}
	g.trust = slices.DeleteFunc(g.trust, func(a trusted) bool { return a.until <= g.now })
	for _, a := range g.trust {
		for _, n := range all {
			if n.self == a.by {
				continue
			}
			require.False(g.t, n.Support().Intersects(a.support), "seed %d at %v: node %v leads with a node of %v, which another counts on", g.seed, g.now, n.self, a.by)
			require.False(g.t, g.now < a.global && n.QuorumID() == a.quorum && n.LeadsGlobally(n.clock(g.now)), "seed %d at %v: node %v leads globally beside %v", g.seed, g.now, n.self, a.by)
		}
	}
}

// disturb does something to the group.
func (g *lag) disturb() {
	i := g.rand.IntN(len(g.nodes))
	n := g.nodes[i]
	now := n.clock(g.now)
	switch g.rand.IntN(9) {
	case 0:
		n.asleep = g.now + time.Duration(g.rand.IntN(200))*time.Millisecond
	case 1:
		cfg := n.cfg
		cfg.Epoch = uint64(g.rand.IntN(6) / 5 * 2) // some have another quorum system
		g.start(i, cfg)
	case 2:
		g.perform(n, n.StepDown(now, nil))
	case 3:
		g.perform(n, n.HandOver(now, timed.NodeID(1+g.rand.IntN(len(g.nodes))), nil))
	case 4:
		g.perform(n, n.Abdicate(now, Distrusted, nil))
	case 5:
		g.cut = [8]int{}
		if g.rand.IntN(2) == 0 {
			for i := range g.cut {
				g.cut[i] = g.rand.IntN(2)
			}
		}
	default:
		if all := g.leaders(); len(all) > 0 {
			g.send(n, all[g.rand.IntN(len(all))].self.Node, onWay{question: &Question{Asked: now}})
		}
	}
}

// rage plays a random history, and then calm, in which one node soon leads all.
func (g *lag) rage() {
	for end := g.now + 3*time.Second; g.now < end; {
		g.disturb()
		for range g.rand.IntN(60) {
			g.step()
		}
	}
	g.calm, g.cut = true, [8]int{}
	for i, n := range g.nodes {
		if cfg := n.cfg; cfg.Epoch != 0 {
			cfg.Epoch = 0
			g.start(i, cfg)
		}
	}
	for end := g.now + 2*time.Second; g.now < end; {
		g.step()
	}
	for range 400 {
		g.step()
		all := g.leaders()
		require.Len(g.t, all, 1, "seed %d at %v", g.seed, g.now)
		require.Equal(g.t, len(g.nodes), all[0].Support().Len(), "seed %d at %v", g.seed, g.now)
		require.Equal(g.t, g.quorum != nil, all[0].LeadsGlobally(all[0].clock(g.now)), "seed %d at %v", g.seed, g.now)
	}
}

// latePackets plays groups whose packets come late, twice, and in any order.
func latePackets(t testing.TB) {
	met := map[string]int{}
	for seed := range uint64(25) {
		g := newLag(t, seed)
		g.rage()
		for what, n := range g.met {
			met[what] += n
		}
	}
	for _, what := range []string{"won", "gave up", "verified", "send release", "led globally", "other quorum"} {
		require.NotZero(t, met[what], what)
	}
}

func TestLatePacketsBreakNothing(t *testing.T) { latePackets(t) }
