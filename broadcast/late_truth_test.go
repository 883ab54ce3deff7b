package broadcast

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
)

// deliver judges a delivery.
func (g *lag) deliver(n *lagged, v *membership.View, d *Delivery) {
	at := fmt.Sprintf("seed %d, node %v in %v, %+v", g.seed, n.self.Node, v.ID, d.ID)
	require.False(g.t, n.got[d.ID], "%s: twice", at)
	payload, ok := g.cast[d.ID]
	require.True(g.t, ok && payload == string(d.Payload), "%s: was not sent", at)
	if boot := n.last[d.Sender][d.Class] >> 40; boot == uint64(d.Boot) {
		require.Greater(g.t, d.Sequence, n.last[d.Sender][d.Class]&(1<<40-1), "%s: overtaken", at)
	}
	n.last[d.Sender][d.Class] = uint64(d.Boot)<<40 | d.Sequence
	n.got[d.ID] = true
	n.inView = append(n.inView, d.ID)
	if n.flushed = n.flushed || d.Flushed; d.Class == ClassOrdered && !n.flushed {
		places := g.place[v.ID]
		if places == nil {
			places = map[uint64]ID{}
			g.place[v.ID] = places
		}
		if other, ok := places[d.Position]; ok {
			require.Equal(g.t, other, d.ID, "%s: another order", at)
		}
		places[d.Position] = d.ID
	}
	if d.Order == TimedOrder && !n.flushed {
		require.GreaterOrEqual(g.t, d.Stamp, n.stamp, "%s: before its time", at)
		n.stamp = d.Stamp
	}
	if d.Transitional {
		g.met["transitional"]++
		return
	}
	have := 0
	for i := range v.Members {
		m := v.Members[i].Incarnation
		if o := g.nodes[m.Node-1]; o.self != m || o.Holds(d.ID) || o.got[d.ID] {
			have++
		}
	}
	switch d.Atomicity {
	case StrictAtomicity:
		require.Equal(g.t, len(v.Members), have, "%s: not all have it", at)
	case StrongAtomicity:
		require.Greater(g.t, 2*have, len(v.Members), "%s: few have it", at)
	}
}
