package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// flushAll has the disks of nodes get all that they lack, until nothing follows from that.
func (l *lagging) flushAll(is ...int) {
	for range 3 { // a generation takes two steps
		for _, i := range is {
			n := l.nodes[i]
			n.sure = len(n.written) - 1
			has := n.written[n.sure].place
			l.perform(i, n.r.HandleStored(l.now, Point{has.View, has.Position}, has.Rank, nil))
		}
	}
}

// beganAgain has all voters lose their disks with their state directories, and the group begin again
// without a node that is no voter and has the former state. It comes back, and knows how far the
// disks of the voters were: what was acknowledged since stays.
func beganAgain(t testing.TB) {
	l := newLagging(Config{Stored: true, Quorum: majority(1, 2, 3)}, 4)
	for _, op := range []string{"a", "b", "c"} {
		l.enter(0, 1, 2, 3)
		l.flushAll(0, 1, 2, 3)
		l.opWith(0, op, strict)
		l.flushAll(0, 1, 2, 3)
	}
	for i := range 3 {
		l.wipe(nil, i)
	}
	l.enter(0, 1, 2)
	l.flushAll(0, 1, 2)
	l.opWith(0, "d", strict)
	l.flushAll(0, 1, 2)
	require.Contains(t, l.truth.lasting, "d")
	l.enter(0, 1, 2, 3)
	l.run(5 * time.Millisecond)
	for i, n := range l.nodes {
		require.Equal(t, "d", n.app, "node %d", i+1)
		require.True(t, n.r.Current())
	}
}

func TestAGroupThatBeganAgainKeepsItsState(t *testing.T) { beganAgain(t) }

// datedByAll has a group begin whose members have begun one after the other. All of them take the
// first date, or none if a member of an earlier build says none.
func datedByAll(t testing.TB) {
	for _, earlier := range []bool{false, true} {
		w := newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
		w.began = func(i int) time.Time {
			if earlier && i == 1 {
				return time.Time{}
			}
			return wall(9 - i)
		}
		for i := range w.nodes {
			w.restart(i, 1)
		}
		w.install(0, 1, 2)
		for range 2 {
			w.storeAll(0, 1, 2)
		}
		want := generationOf(wall(7))
		if earlier {
			want = 0
		}
		for i, n := range w.nodes {
			require.Equal(t, want, n.r.lineage.Rank/generation, "node %d, with an earlier build: %v", i+1, earlier)
		}
	}
}

func TestAGroupIsDatedByAll(t *testing.T) { datedByAll(t) }

// promisedIsNotGoneBack has nodes 2 and 3 lose everything, and an operator let them begin without node
// 1. The view ends when the disk of node 2 has promised the generation, and no more. Node 1 comes
// back, and knows how far the disk of node 2 was. Node 2 lacks nothing that it has said since: the
// two are a quorum that remembers, and go on with what node 1 has.
func promisedIsNotGoneBack(t testing.TB) {
	l := newLagging(Config{Stored: true, Quorum: majority(1, 2, 3)}, 3)
	for _, op := range []string{"a", "b"} {
		l.enter(0, 1, 2)
		l.flushAll(0, 1, 2)
		l.opWith(0, op, strict)
		l.flushAll(0, 1, 2)
	}
	l.wipe(nil, 1)
	l.wipe(nil, 2)
	l.enter(1, 2)
	l.declare(nil, 1)
	l.flushAll(1)
	l.enter(0, 1)
	l.run(5 * time.Millisecond)
	for i, n := range l.nodes[:2] {
		require.Equal(t, Working, n.r.Situation(), "node %d", i+1)
		require.Equal(t, "ab", n.app)
		_, said := n.has(EventRolledBack)
		require.False(t, said, "node %d", i+1)
	}
}

func TestADiskThatHasPromisedAGenerationHasNotGoneBack(t *testing.T) { promisedIsNotGoneBack(t) }

// promisedAndGoneBack has b last on the disks of nodes 1 and 2, and then the disk of node 2 go back
// to a. Node 1 says so, and an operator lets the two begin. The view ends when the disk of node 2 has
// promised the generation, and no more. Nodes 2 and 3 are no quorum that remembers: b may be lost.
func promisedAndGoneBack(t testing.TB) {
	l := newLagging(Config{Stored: true, Quorum: majority(1, 2, 3)}, 3)
	l.enter(0, 1, 2)
	l.flushAll(0, 1, 2)
	l.opWith(0, "a", strict)
	l.flushAll(0, 1, 2)
	has := l.nodes[1].written[l.nodes[1].sure]
	l.opWith(0, "b", strict)
	l.flushAll(0, 1)
	require.Contains(t, l.truth.lasting, "b")
	l.reboot(1, 7, node{app: has.app, place: has.place})
	l.nodes[1].written = []written{has}
	l.enter(0, 1)
	l.hinder(lane{1, broadcast.ClassUnordered}) // with the state
	l.declare(nil, 0)
	require.Positive(t, l.nodes[1].r.promised)
	require.Equal(t, "a", l.nodes[1].app)
	l.miss(1) // the state of node 1
	l.enter(1, 2)
	l.run(5 * time.Millisecond)
	for _, n := range l.nodes[1:] {
		require.Equal(t, Recovering, n.r.Situation())
		e, _ := n.has(EventRolledBack)
		require.Equal(t, timed.SetOf(2), e.Members)
	}
}

func TestAPromiseForgivesNoDisk(t *testing.T) { promisedAndGoneBack(t) }
