package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// strongNeedsAQuorum has a member go on in another quorum, and reports whether those it
// left deliver nothing as Strong any more, although they are most of their view.
func strongNeedsAQuorum(t testing.TB) bool {
	group := timed.Set{}
	for i := range 5 {
		group.Add(incarnation(i).Node)
	}
	q, err := quorum.Majority(group)
	require.NoError(t, err)
	g := newTrio(5, Config{Quorum: q})
	g.keep = true
	g.install(viewOf(2, 0, 1, 2))
	g.drop = func(from, to int, p *Packet) bool { return (from < 2) != (to < 2) }
	g.install(viewOf(3, 2, 3, 4))
	_, err = g.cast(0, []byte("rest"), Options{TotalOrder, StrongAtomicity})
	require.NoError(t, err)
	g.run(50 * time.Millisecond)
	return len(g.payloads[0]) == 0 && len(g.payloads[1]) == 0
}

func TestStrongNeedsAQuorumOfTheGroup(t *testing.T) { require.True(t, strongNeedsAQuorum(t)) }

// strongNeedsMost reports whether a small quorum of a large view does not make a decision stable:
// more than half of the view must have it too.
func strongNeedsMost(t testing.TB) bool {
	q, err := quorum.Majority(timed.SetOf(incarnation(0).Node, incarnation(1).Node, incarnation(2).Node))
	require.NoError(t, err)
	s := newTrio(5, Config{Quorum: q}).nodes[0]
	for i, ack := range []uint64{9, 9, 4, 3, 3} {
		s.members[i].ack = ack
	}
	return s.heldByMost([]uint64{3, 3, 4, 9, 9}) == 4
}

func TestStrongNeedsMostOfTheView(t *testing.T) { require.True(t, strongNeedsMost(t)) }

// Two branches order the messages of their own members in their own ways: what one member
// delivers as transitional, others deliver as regular in the next view, perhaps in another
// order. This is where deliveries differ from extended virtual synchrony as published.
func TestBranchesOrderTheirMessagesInTheirOwnWays(t *testing.T) {
	g := newTrio(4, Config{})
	g.keep = true
	g.drop = func(from, to int, _ *Packet) bool { return from == 0 || from == 2 && to == 1 }
	for _, i := range []int{2, 3} {
		_, err := g.cast(i, []byte{'a' + byte(i)}, Options{TotalOrder, StrictAtomicity})
		require.NoError(t, err)
	}
	g.run(time.Millisecond) // the first member orders both, and is not heard
	g.drop = func(from, to int, _ *Packet) bool { return from == 0 || to == 0 }
	g.install(viewOf(2, 0))
	g.install(viewOf(3, 1, 2, 3))
	g.run(50 * time.Millisecond)
	require.Equal(t, []string{"c", "d"}, g.payloads[0])
	require.True(t, g.delivered[0][0].Transitional && g.delivered[0][1].Transitional)
	for i := 1; i <= 3; i++ {
		require.Equal(t, []string{"d", "c"}, g.payloads[i])
		require.False(t, g.delivered[i][0].Transitional || g.delivered[i][1].Transitional)
	}
}

func TestRequireQuorum(t *testing.T) {
	group, err := quorum.Majority(timed.SetOf(1, 2, 3, 4, 5))
	require.NoError(t, err)
	g := newTrio(3, Config{Quorum: group})
	_, err = g.cast(0, nil, Options{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.NoError(t, err)
	g.run(5 * time.Millisecond)
	require.Equal(t, 1, g.count[1])
	g.install(viewOf(2, 0, 1))
	for _, order := range []Order{TotalOrder, TimedOrder} {
		_, err = g.cast(0, nil, Options{Order: order, Atomicity: WeakAtomicity})
		require.ErrorIs(t, err, ErrNoQuorum)
	}
	_, err = g.cast(0, nil, Options{Order: Unordered, Atomicity: WeakAtomicity})
	require.NoError(t, err, "unordered messages need no quorum")
	g.run(5 * time.Millisecond)
	require.Equal(t, 2, g.count[1])
}
