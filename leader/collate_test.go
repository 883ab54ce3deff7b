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
			require.True(t, p.Below.With(id).Subset(above.Below), "the node above speaks for all below")
		}
		var all timed.Set
		for id := range tree.Target.All() {
			p, _ := tree.Place(id)
			if p.Parent == timed.NoNode {
				require.False(t, all.Intersects(p.Below.With(id)), "branches are apart")
				all = all.Union(p.Below.With(id))
			}
		}
		require.Equal(t, tree.Target, all, "everybody speaks through a child of the requester")
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

func TestCollationThatMakesNoSenseIsNamed(t *testing.T) {
	require.NoError(t, Collation{}.Validate())
	require.NoError(t, Collation{Fanout: 4}.Validate(), "never, whatever the fanout")
	require.NoError(t, Collation{Above: 32, Fanout: 4}.Validate())
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

// collator is node 1, ready and about to ask nodes 2 to 8, with the tree of each
// of its rounds.
type collator struct {
	*Election
	now   timed.Instant
	alive timed.Set
	takes time.Duration // from a request to its answers
}

func newCollator() *collator {
	e := New(Config{Self: incarnation(1), Timing: timed.LAN(), Mode: Available, Collation: Collation{Above: 3, Fanout: 2}}, start)
	c := &collator{Election: e, alive: timed.SetOf(2, 3, 4, 5, 6, 7, 8), takes: time.Millisecond}
	for id := range c.alive.All() {
		e.HandleState(incarnation(id), &State{MaxLock: timed.LAN().MaxLockTime})
	}
	c.now = e.Deadline(c.alive)
	return c
}

// round begins the next round, has the given nodes answer, and ends it.
func (c *collator) round(t testing.TB, answer timed.Set) Tree {
	c.now = timed.Later(c.now, c.requestAt(c.alive))
	out := c.HandleTimeout(c.now, c.alive, nil)
	require.NotEmpty(t, out)
	require.Equal(t, SendRequest, out[0].Kind)
	c.now = c.now.Add(c.takes)
	for id := range answer.All() {
		c.HandleReply(c.now, incarnation(id), Reply{Number: c.lastRequest, Support: true}, true, c.alive, nil)
	}
	if c.open {
		c.now = c.alarm
		c.check(c.now, c.alive, true, nil)
		c.open = false
	}
	return out[0].Request.Tree
}

func TestAFirstRoundIsDirect(t *testing.T) { firstRoundIsDirect(t) }

func firstRoundIsDirect(t testing.TB) {
	c := newCollator()
	require.Zero(t, c.round(t, c.alive))
	require.Equal(t, Tree{Fanout: 2, Target: c.alive}, c.round(t, c.alive), "who answered has a place")
	c.alive.Add(9)
	c.HandleState(incarnation(9), &State{MaxLock: timed.LAN().MaxLockTime})
	require.Equal(t, Tree{Fanout: 2, Target: c.alive.Without(9)}, c.round(t, c.alive), "and a newcomer has none")
}

func TestSlowRoundsAreDirect(t *testing.T) { slowRoundsAreDirect(t) }

func slowRoundsAreDirect(t testing.TB) {
	c := newCollator()
	c.round(t, c.alive)
	c.takes = 6 * time.Millisecond
	require.NotZero(t, c.round(t, c.alive), "three levels at the speed of before")
	c.takes = 12 * time.Millisecond
	c.round(t, c.alive)
	require.Zero(t, c.round(t, c.alive), "four hops of 3 ms are above half of a round")
	c.takes = time.Millisecond
	rounds := 0
	for c.round(t, c.alive) == (Tree{}) {
		rounds++
		require.Less(t, rounds, 50)
	}
	require.Greater(t, rounds, 5, "one fast round proves little")
}

func TestTheSilentAnswerDirectlyForAWhile(t *testing.T) {
	c := newCollator()
	c.round(t, c.alive)
	c.round(t, c.alive.Without(3).Without(7))
	silentUntil := c.collated.until
	for c.now < silentUntil {
		want := c.alive.Without(3).Without(7)
		if at := timed.Later(c.now, c.requestAt(c.alive)); at >= silentUntil {
			break
		}
		require.Equal(t, want, c.round(t, c.alive).Target)
	}
	c.now = silentUntil
	require.Equal(t, c.alive, c.round(t, c.alive).Target)
	c.alive = timed.SetOf(2, 3)
	require.Zero(t, c.round(t, c.alive), "a group of three is too small")
}

func TestRelayedRepliesCountInTheirRoundOnly(t *testing.T) { relayedInTime(t) }

func relayedInTime(t testing.TB) {
	c := newCollator()
	c.round(t, c.alive)
	c.now = timed.Later(c.now, c.requestAt(c.alive))
	c.HandleTimeout(c.now, c.alive, nil)
	vote := Reply{Number: c.lastRequest, Support: true}
	require.True(t, c.NoteRelayed(c.alarm, incarnation(2), vote))
	require.False(t, c.NoteRelayed(c.alarm+1, incarnation(3), vote), "it may be older than a round")
	vote.Number--
	require.False(t, c.NoteRelayed(c.alarm, incarnation(4), vote), "the answer to another request")
	require.Equal(t, timed.SetOf(1, 2), c.replies)
	vote.Number++
	for id := range c.alive.All() {
		require.True(t, c.NoteRelayed(c.alarm, incarnation(id), vote))
	}
	out := c.Decide(c.now, c.alive, nil)
	require.Len(t, out, 1)
	require.Equal(t, Won, out[0].Kind)
	require.False(t, c.NoteRelayed(c.alarm, incarnation(2), vote), "the round is over")
	require.Empty(t, c.Decide(c.now, c.alive, nil))
}
