package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

func TestEveryNodeOfATreeHasOnePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := Tree{Fanout: uint8(rapid.IntRange(MinFanout, 8).Draw(t, "fanout"))}
		for range rapid.IntRange(1, 200).Draw(t, "draws") {
			tree.Target.Add(timed.NodeID(rapid.IntRange(1, 255).Draw(t, "target")))
		}
		children := map[timed.NodeID]int{}
		for id := range tree.Target.All() {
			p, ok := tree.Place(id)
			require.True(t, ok)
			children[p.Parent]++
			require.False(t, p.Below.Has(id))
			require.GreaterOrEqual(t, p.Levels, p.Level)
			if p.Parent == timed.NoNode {
				require.Equal(t, 1, p.Level)
				continue
			}
			above, ok := tree.Place(p.Parent)
			require.True(t, ok)
			require.Equal(t, above.Level+1, p.Level)
			require.True(t, p.Below.With(id).Subset(above.Below), "the node above answers for all below")
		}
		var all timed.Set
		for id := range tree.Target.All() {
			p, _ := tree.Place(id)
			if p.Parent == timed.NoNode {
				require.False(t, all.Intersects(p.Below.With(id)), "branches are apart")
				all = all.Union(p.Below.With(id))
			}
		}
		require.Equal(t, tree.Target, all, "every node answers through a child of the requester")
		for _, n := range children {
			require.LessOrEqual(t, n, int(tree.Fanout))
		}
	})
}

func TestNoPlaceWithoutATree(t *testing.T) {
	_, ok := (&Tree{Target: timed.SetOf(1, 2, 3)}).Place(2)
	require.False(t, ok, "no fanout")
	_, ok = (&Tree{Fanout: 2, Target: timed.SetOf(1, 2, 3)}).Place(4)
	require.False(t, ok, "no target")
}

func TestInvalidCollationIsNamed(t *testing.T) {
	require.NoError(t, Collation{}.Validate())
	require.NoError(t, Collation{Fanout: 4}.Validate(), "never, with any fanout")
	for _, c := range []Collation{{32, 4}, {5, 4}, {254, 4}, {3, 2}, {100, 64}} {
		require.NoError(t, c.Validate())
	}
	for _, c := range []struct {
		Collation
		field string
	}{
		{Collation{32, 0}, "CollateFanout"}, {Collation{32, 1}, "CollateFanout"}, {Collation{100, 65}, "CollateFanout"},
		{Collation{4, 4}, "CollateAbove"}, {Collation{-1, 4}, "CollateAbove"}, {Collation{255, 4}, "CollateAbove"},
	} {
		require.ErrorContains(t, c.Validate(), c.field+":")
	}
}

// collator is node 1, ready and about to ask nodes 2 to 8.
type collator struct {
	*Election
	now   timed.Instant
	group timed.Set     // the alive peers
	takes time.Duration // from a request to its answers
}

func newCollator() *collator {
	e := New(Config{Self: incarnation(1), Timing: timed.LAN(), Mode: Available, Collation: Collation{Above: 3, Fanout: 2}}, start)
	c := &collator{Election: e, group: timed.SetOf(2, 3, 4, 5, 6, 7, 8), takes: time.Millisecond}
	for id := range c.group.All() {
		e.NoteState(start, incarnation(id), &State{MaxLock: timed.LAN().MaxLockTime})
	}
	c.now = deadline(e, c.group)
	return c
}

// round begins the next round, lets the given nodes answer, ends it, and returns its tree.
func (c *collator) round(t testing.TB, answer timed.Set) Tree {
	c.SetAlive(c.now, c.group)
	c.now = timed.Later(c.now, c.requestAt())
	out := c.HandleTimeout(c.now, nil)
	require.NotEmpty(t, out)
	require.Equal(t, SendRequest, out[0].Kind)
	c.now = c.now.Add(c.takes)
	for id := range answer.All() {
		c.HandleReply(c.now, incarnation(id), Reply{Number: c.lastRequest, Support: true}, true, nil)
	}
	if c.open {
		c.now = c.alarm
		c.check(c.now, true, nil)
		c.open = false
	}
	return out[0].Request.Tree
}

func TestAFirstRoundIsDirect(t *testing.T) { firstRoundIsDirect(t) }

func firstRoundIsDirect(t testing.TB) {
	c := newCollator()
	require.Zero(t, c.round(t, c.group))
	require.Equal(t, Tree{Fanout: 2, Target: c.group}, c.round(t, c.group), "a node that answered has a place")
	c.group.Add(9)
	c.NoteState(start, incarnation(9), &State{MaxLock: timed.LAN().MaxLockTime})
	require.Equal(t, Tree{Fanout: 2, Target: c.group.Without(9)}, c.round(t, c.group), "a newcomer has none")
}

func TestSmallGroupsAnswerDirectly(t *testing.T) {
	c := newCollator()
	c.cfg.Collation.Above = c.group.Len() + 1
	c.round(t, c.group)
	require.Zero(t, c.round(t, c.group), "the group is not above")
	c.cfg.Collation.Above--
	require.NotZero(t, c.round(t, c.group))
}

func TestSlowRoundsAreDirect(t *testing.T) { slowRoundsAreDirect(t) }

func slowRoundsAreDirect(t testing.TB) {
	c := newCollator()
	c.round(t, c.group)
	c.takes = 6 * time.Millisecond
	require.NotZero(t, c.round(t, c.group), "three levels at the previous speed")
	c.takes = 12 * time.Millisecond
	c.round(t, c.group)
	require.Zero(t, c.round(t, c.group), "four hops of 3 ms are above half of a round")
	c.takes = time.Millisecond
	rounds := 0
	for c.round(t, c.group) == (Tree{}) {
		rounds++
		require.Less(t, rounds, 50)
	}
	require.Greater(t, rounds, 5, "one fast round proves little")
}

func TestSilentNodesAnswerDirectlyForAWhile(t *testing.T) {
	c := newCollator()
	c.round(t, c.group)
	c.round(t, c.group.Without(3).Without(7))
	silentUntil := c.collated.until
	tm := &c.cfg.Timing
	require.GreaterOrEqual(t, silentUntil, c.lastRequest.Add(tm.WordLasts()+tm.Expires), "a parent may count on a dead one for as long, by the word of others")
	for c.now < silentUntil {
		want := c.group.Without(3).Without(7)
		if at := timed.Later(c.now, c.requestAt()); at >= silentUntil {
			break
		}
		require.Equal(t, want, c.round(t, c.group).Target)
	}
	c.now = silentUntil
	require.Equal(t, c.group, c.round(t, c.group).Target)
	c.group = timed.SetOf(2, 3)
	require.Zero(t, c.round(t, c.group), "a group of three is too small")
}

func TestRelayedRepliesCountInTheirRoundOnly(t *testing.T) { relayedInTime(t) }

func relayedInTime(t testing.TB) {
	c := newCollator()
	c.round(t, c.group)
	c.now = timed.Later(c.now, c.requestAt())
	c.HandleTimeout(c.now, nil)
	vote := Reply{Number: c.lastRequest, Support: true}
	require.NotEmpty(t, c.HandleRelayed(c.alarm, incarnation(2), vote, nil))
	require.Empty(t, c.HandleRelayed(c.alarm+1, incarnation(3), vote, nil), "it may be older than a round")
	vote.Number--
	require.Empty(t, c.HandleRelayed(c.alarm, incarnation(4), vote, nil), "the answer to another request")
	require.Equal(t, timed.SetOf(1, 2), c.replies)
	vote.Number++
	for id := range c.group.All() {
		require.NotEmpty(t, c.HandleRelayed(c.alarm, incarnation(id), vote, nil))
	}
	out := c.Decide(c.now, nil)
	require.Len(t, out, 1)
	require.Equal(t, Won, out[0].Kind)
	require.Empty(t, c.HandleRelayed(c.alarm, incarnation(2), vote, nil), "the round is over")
	require.Empty(t, c.Decide(c.now, nil))
}

// A node that refuses has answered: it keeps its place in the next tree.
func refusersAnswer(t testing.TB) {
	e, alive, now := candidate(t, Available)
	e.cfg.Collation = Collation{Above: 2, Fanout: 2}
	e.HandleReply(now, incarnation(2), Reply{Number: e.LastRequest(), Prefers: 2}, true, nil)
	timeout(e, e.alarm, alive)
	require.Equal(t, timed.SetOf(3), e.collated.silent)
}

func TestARefusalIsNoSilence(t *testing.T) { refusersAnswer(t) }
