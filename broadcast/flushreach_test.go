package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// flushPastTheSource has a flush whose source and the member that lacks messages do not hear each
// other, in both directions. The leader hears both, and others hold the messages too. It reports
// whether the view change gets on.
func flushPastTheSource(leaderHolds bool, order Options) bool {
	w := newTrio(4, Config{})
	cut := func(a, b, from, to int) bool { return from == a && to == b || from == b && to == a }
	lost := func(from, to int) bool { return cut(0, 1, from, to) || !leaderHolds && cut(0, 2, from, to) }
	w.drop = func(from, to int, _ *Packet) bool { return lost(from, to) }
	if _, err := w.cast(0, []byte("hello"), order); err != nil {
		panic(err)
	}
	w.now = w.now.Add(time.Millisecond)
	w.act(0)
	w.drop = func(from, to int, _ *Packet) bool { return cut(0, 1, from, to) }
	v := viewOf(2, 0, 1, 2, 3)
	v.ID = membership.ViewID{Sequence: 2, Leader: incarnation(2).Node, Boot: incarnation(2).Boot}
	for i := range w.nodes {
		w.nodes[i].Freeze(w.now, v, i == 2)
	}
	for range 100 {
		w.now = w.now.Add(3 * time.Millisecond)
		w.turn()
	}
	return w.nodes[2].freeze.flushed
}

func flushPassesTheSource() bool {
	for _, order := range []Options{{TotalOrder, WeakAtomicity}, {Unordered, WeakAtomicity}} {
		if !flushPastTheSource(true, order) || !flushPastTheSource(false, order) {
			return false
		}
	}
	return true
}

// A member that does not hear the one which the plan names gets what it lacks from others.
func TestAFlushPassesTheSource(t *testing.T) { require.True(t, flushPassesTheSource()) }

// A member that nobody can give what it lacks holds the view change up for some time. Then the
// leader knows who that is.
func TestAStuckFlushIsNoticed(t *testing.T) {
	w := newTrio(4, Config{})
	w.drop = func(_, to int, p *Packet) bool { return to == 1 && p.Plan == nil }
	_, err := w.cast(0, []byte("hello"), Options{TotalOrder, WeakAtomicity})
	require.NoError(t, err)
	for range 20 {
		w.now = w.now.Add(time.Millisecond)
		w.turn()
	}
	v := viewOf(2, 0, 1, 2, 3)
	v.ID = membership.ViewID{Sequence: 2, Leader: incarnation(2).Node, Boot: incarnation(2).Boot}
	for i := range w.nodes {
		w.nodes[i].Freeze(w.now, v, i == 2)
	}
	patient := w.now.Add(patience * w.nodes[2].cfg.Timing.Expires)
	for w.now < patient.Add(20*time.Millisecond) {
		require.True(t, w.now >= patient || w.nodes[2].Stuck(w.now).Empty())
		w.now = w.now.Add(3 * time.Millisecond)
		w.turn()
	}
	require.False(t, w.nodes[2].Ready(v.ID))
	require.Equal(t, timed.SetOf(incarnation(1).Node), w.nodes[2].Stuck(w.now))
	require.Empty(t, w.nodes[1].Stuck(w.now), "it does not lead")

	w.nodes[2].freeze.lacking = v.Set
	require.Equal(t, v.Set.Minus(timed.SetOf(incarnation(0).Node)), w.nodes[2].Stuck(w.now), "one of those that come from a view goes on")
}
