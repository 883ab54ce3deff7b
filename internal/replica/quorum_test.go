package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// majority returns the quorum system of the majorities of a group.
func majority(ids ...timed.NodeID) quorum.System {
	q, err := quorum.Majority(timed.SetOf(ids...))
	if err != nil {
		panic(err)
	}
	return q
}

// A view that ends before it is settled makes no state newer: a member that was cut off
// must not leave it with the rank of the others.
func unsettledQuorum(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.install(0)
	w.install(1, 2)
	w.op(1, "b")
	w.hold = func(from int, payload []byte) bool { return from == 2 && kind(payload[0]) == kindReport }
	w.install(0, 1, 2)
	w.hold = nil
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	for i := range 2 {
		require.Equal(t, "ab", w.nodes[i].app, "node %d", i+1)
	}
}

func TestAViewThatIsNotSettledMakesNoStateNewer(t *testing.T) { unsettledQuorum(t) }

// tentativeIsOlder has a process find the initial state on its disk, under the rank of a
// view whose operations the disk of another has, in the order or flushed. Then it gets
// operations of a view that is not settled.
func tentativeIsOlder(t testing.TB) {
	for _, apply := range []func(*world){
		func(w *world) { w.op(0, "a") },
		func(w *world) { w.flushed(1, "a") },
	} {
		w := newWorld(3, Config{Stored: true, Quorum: majority(1, 2, 3)})
		w.install(0, 1, 2)
		begin := w.nodes[2].place
		require.Zero(t, begin.Position)
		apply(w)
		w.nodes[1], w.nodes[2] = w.node(1, 1, w.nodes[1].place.Named()), w.node(2, 1, begin.Named())
		w.nodes[1].app = "a"
		w.hold = func(from int, payload []byte) bool { return from == 1 && kind(payload[0]) == kindReport }
		w.install(1, 2)
		w.op(2, "x")
		w.hold = nil
		w.install(1, 2)
		w.run(10 * time.Millisecond)
		for i := 1; i <= 2; i++ {
			require.Equal(t, "a", w.nodes[i].app, "node %d", i+1)
		}
	}
}

func TestATentativeStateIsOlderThanAnyOfItsRank(t *testing.T) { tentativeIsOlder(t) }

// A member that waits for a state to replace its own still has a newer state than a
// member that was away for longer.
func discardedIsNewer(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.install(2)
	w.install(0, 1)
	w.op(0, "b")
	w.only(0, "x")
	w.install(0)
	w.install(1)
	w.nodes[0].lazy = true // its snapshot never comes
	w.install(0, 1)
	require.Equal(t, Pending, w.nodes[1].r.Standing())
	w.install(0)
	w.install(1, 2)
	w.run(10 * time.Millisecond)
	for i := 1; i < 3; i++ {
		require.Equal(t, "ab", w.nodes[i].app, "node %d", i+1)
	}
}

func TestADiscardedStateMayBeNewer(t *testing.T) { discardedIsNewer(t) }

// A delivery lasts only once the members with the state are a majority.
func TestWhatLastsIsInTheStateOfAMajority(t *testing.T) { lastingNeedsAQuorum(t) }

func lastingNeedsAQuorum(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	strict := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}
	op := func(opt broadcast.Options) bool {
		w.nodes[0].last = Effect{}
		w.perform(0, []Effect{{Kind: Broadcast, Options: opt, Payload: AppendOp(nil, []byte("x"))}})
		require.Equal(t, Apply, w.nodes[0].last.Kind)
		return w.nodes[0].last.Lasting
	}
	w.install(0, 1, 2)
	require.True(t, op(strict))
	require.False(t, op(marker), "weak")
	w.restart(1, 1)
	w.restart(2, 1)
	w.nodes[0].lazy = true
	w.install(0, 1, 2)
	require.False(t, op(strict), "nodes 2 and 3 wait for the state")
	w.answer(0)
	w.run(10 * time.Millisecond)
	require.Equal(t, "xxx", w.nodes[1].app)
	require.True(t, op(strict))
}

func TestOwnOperationsThatAreNotAppliedAreTold(t *testing.T) {
	w := newWorld(2, Config{})
	w.install(0)
	w.op(0, "a")
	w.nodes[0].lazy = true
	w.install(0, 1)
	w.op(1, "b") // waits for the state of node 1, which ends
	sent := w.nodes[1].ordered
	w.op(0, "c")
	w.nodes[1].last = Effect{}
	w.install(1)
	require.Equal(t, Skip, w.nodes[1].last.Kind)
	require.Contains(t, sent, markOf(&w.nodes[1].last.Delivery))
}

func TestABarrierChangesNoState(t *testing.T) {
	w := newWorld(2, Config{})
	bar := func(i int) Kind {
		w.nodes[i].last = Effect{}
		w.perform(i, []Effect{{Kind: Broadcast, Options: marker, Payload: AppendBarrier(nil)}})
		return w.nodes[i].last.Kind
	}
	w.install(0, 1)
	w.install(0)
	w.install(1)
	require.Equal(t, Barrier, bar(0))
	require.Equal(t, Barrier, bar(1))
	w.install(0, 1)
	_, merged := w.nodes[0].has(EventMerged)
	require.False(t, merged)
	w.op(0, "a")
	w.install(0)
	w.op(0, "b")
	w.install(1)
	w.op(1, "c")
	w.nodes[0].lazy = true // its snapshot never comes
	w.install(0, 1)
	require.Equal(t, Merging, w.nodes[0].r.Situation())
	require.Equal(t, Skip, bar(0), "its state is not that of the view")
}

// A member sees a view settled that the others of it do not see settled. They may settle
// another view of the same rank, whose state is the group's.
func unheldIsNoNewer(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	var last []byte
	w.hold = func(from int, p []byte) bool {
		mine := from == 0 && kind(p[0]) == kindReport
		if mine {
			last = p
		}
		return mine
	}
	w.install(0, 1)
	n := w.nodes[0]
	w.perform(0, n.r.HandleDelivery(w.now, broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: n.inc.Boot, Class: broadcast.ClassOrdered},
		Options: marker, Position: 3, Payload: last}, nil))
	require.True(t, n.r.Settled())
	require.False(t, w.nodes[1].r.Settled())
	w.hold = nil
	w.only(0, "x")
	w.install(0)
	w.install(1, 2)
	w.op(1, "y")
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "y", 0, 1)
}

func TestAViewThatAQuorumDoesNotHoldMakesNoStateNewer(t *testing.T) { unheldIsNoNewer(t) }

// Members see many views that do not settle. Their state is no newer for that than the one with
// which others went on.
func unsettledIsNoNewer(t testing.TB) {
	w := newWorld(5, Config{Quorum: majority(1, 2, 3, 4, 5)})
	w.install(0, 1, 2, 3, 4)
	w.op(0, "a")
	w.hold = func(from int, p []byte) bool { return from == 0 && kind(p[0]) == kindReport }
	for range 5 {
		w.install(0, 1, 2)
		require.False(t, w.nodes[1].r.Settled())
	}
	w.hold = nil
	w.install(2, 3, 4)
	w.op(2, "b")
	w.install(0, 1, 3)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1, 3)
}

func TestAViewThatDoesNotSettleMakesNoStateNewer(t *testing.T) { unsettledIsNoNewer(t) }

// Members have seen different numbers of views. The rank of a view is above that of all.
func ranksGrow(t testing.TB) {
	w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
	w.install(0, 1, 2)
	w.op(0, "a")
	for range 3 {
		w.install(0, 1)
	}
	w.install(1, 2)
	w.op(1, "b")
	w.install(0, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 2)
	for i := range 3 { // the sequences of views begin anew, and the ranks do not
		w.renew(i, 1)
	}
	w.views = 0
	w.install(0, 1)
	w.op(0, "c")
	w.install(0)
	w.install(1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "abc", 1, 2)
}

func TestRanksGrow(t *testing.T) { ranksGrow(t) }
