package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A state that comes from the middle of a view has a place there.
func placeInTheMiddle(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.nodes[0].refuses, w.nodes[0].lazy = true, true
	w.install(0, 1, 2)
	w.op(0, "b")
	w.answer(0)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1, 2)
	w.op(0, "c")
	for _, states := range w.named {
		require.Len(t, states, 1)
	}
	require.Greater(t, len(w.named), 3)
	require.Empty(t, w.again)
}

// placeBeforeTheQueue has a member get the state of the middle of a view after more operations
// have come. The state has its place before them.
func placeBeforeTheQueue(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.nodes[0].refuses, w.nodes[0].lazy, w.nodes[1].lazy = true, true, true
	w.install(0, 1, 2)
	w.op(0, "b")
	w.answer(0)
	w.op(0, "c")
	w.op(1, "d")
	w.answer(1)
	w.run(10 * time.Millisecond)
	all(t, w, "abcd", 0, 1, 2)
	for _, states := range w.named {
		require.Len(t, states, 1)
	}
	require.Empty(t, w.again)
}

func TestAStateFromTheMiddleHasItsPlaceBeforeTheQueue(t *testing.T) { placeBeforeTheQueue(t) }

// placeInTheNextView has a member begin to get the state of the middle of a view, and get it
// in the next one. What it then has is the state with which that view began.
func placeInTheNextView(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.nodes[0].refuses, w.nodes[1].refuses = true, true
	w.install(0, 1, 2)
	w.op(0, "b")
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
	w.nodes[0].refuses, w.nodes[1].refuses = false, false
	w.run(3 * time.Second)
	require.NotZero(t, w.nodes[2].r.base.Position)
	w.op(0, "c")
	w.hold = nil
	v := w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "abc", 0, 1, 2)
	require.Equal(t, v.ID, w.nodes[2].place.View)
	require.Zero(t, w.nodes[2].place.Position)
	w.op(0, "d")
	for _, states := range w.named {
		require.Len(t, states, 1)
	}
}

// operationInTheNextView has a member that waits for a state submit an operation, and get the
// state in the next view, which begins with that operation.
func operationInTheNextView(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
	w.install(0, 1, 2)
	for _, op := range []string{"b", "c", "d"} {
		w.op(0, op)
	}
	w.op(2, "e")
	w.hold = nil
	v := w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "abcde", 0, 1, 2)
	own := w.nodes[2].last
	require.Equal(t, Apply, own.Kind)
	require.Equal(t, Point{View: v.ID}, own.At, "it lasts when disks have the state with which the view begins")
}

func TestAnOperationOfTheViewBeforeHasNoPositionInThisOne(t *testing.T) { operationInTheNextView(t) }

func TestAStateFromTheMiddleOfTheViewBeforeHasNoPlaceThere(t *testing.T) { placeInTheNextView(t) }

// The owner of a place changes it while the replica goes on.
func TestAPlaceBelongsToItsOwner(t *testing.T) {
	id := broadcast.ID{Sender: 1, Boot: 2, Sequence: 3}
	m := &Replica{cfg: Config{Stored: true}, viewState: viewState{view: &membership.View{}}}
	m.noteOrdered(&broadcast.Delivery{ID: id})
	m.locate(0)
	id.Sequence++
	m.noteOrdered(&broadcast.Delivery{ID: id})
	require.Equal(t, []broadcast.Mark{{Node: 1, Boot: 2, Sequence: 3}}, m.out[0].Place.Ordered)
}

// positionsInTheMiddle has a member without a state get that of the middle of a view, whose
// operations it had delivered and dropped.
func positionsInTheMiddle(t testing.TB) {
	w := newWorld(2, Config{Stored: true, MaxQueued: MinQueued})
	w.install(0)
	w.op(0, "a")
	w.nodes[0].lazy = true
	w.install(0, 1)
	w.op(0, "b")
	for over := false; !over; _, over = w.nodes[1].has(EventStartedOver) {
		w.op(0, "long")
	}
	w.answer(0)
	w.run(10 * time.Millisecond)
	w.answer(0)
	w.run(10 * time.Millisecond)
	require.Equal(t, w.nodes[0].app, w.nodes[1].app)
	require.Contains(t, w.nodes[1].app, "b")
	require.Empty(t, w.again)
}

func TestAPlaceInTheMiddleOfAViewHasThePositionsThere(t *testing.T) { positionsInTheMiddle(t) }

// positionsBehindTheQueue has a member get the state of the middle of a view, while operations come
// that it has no room for: the only one of a sender is among them.
func positionsBehindTheQueue(t testing.TB) {
	w := newWorld(3, Config{Stored: true, MaxQueued: MinQueued})
	w.install(0, 2)
	w.op(0, "a")
	w.nodes[0].lazy, w.nodes[2].lazy = true, true
	w.install(0, 1, 2)
	w.inTurn(func() {
		for range 2 * MinQueued / PerDelivery {
			w.op(0, "long")
		}
		w.op(2, "b")
	})
	_, over := w.nodes[1].has(EventStartedOver)
	require.True(t, over)
	for range 2 {
		w.answer(0)
		w.answer(2)
		w.run(10 * time.Millisecond)
	}
	require.Equal(t, w.nodes[0].app, w.nodes[1].app)
	require.Contains(t, w.nodes[1].app, "b")
	require.Empty(t, w.again)
}

func TestAPlaceInTheMiddleOfAViewHasThePositionsOfAll(t *testing.T) { positionsBehindTheQueue(t) }

// positionsOfOthers has a member get a state with an operation of a sender that is away.
func positionsOfOthers(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(1, "a")
	w.install(0, 2)
	w.run(10 * time.Millisecond)
	w.op(2, "b")
	require.Equal(t, "ab", w.nodes[2].app)
	require.Empty(t, w.again)
}

func TestAPlaceHasThePositionsOfAbsentSenders(t *testing.T) { positionsOfOthers(t) }

// placeOfAnUnsettledView has a member apply operations of a view that did not settle, while
// others go on in the view before.
func placeOfAnUnsettledView(t testing.TB) {
	w := newWorld(3, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	w.hold = func(from int, p []byte) bool { return kind(p[0]) == kindReport && from == 2 }
	w.install(0, 2)
	for range 9 {
		w.op(0, "b")
		w.op(1, "c")
	}
	require.Equal(t, "a", w.nodes[0].app, "the view has not settled")
	w.install(0)
	require.Equal(t, "abbbbbbbbb", w.nodes[0].app)
	for _, states := range w.named {
		require.Len(t, states, 1, "one name for two states")
	}
}

func TestOperationsOfAnUnsettledViewHaveAPlaceThere(t *testing.T) { placeOfAnUnsettledView(t) }

func TestAStateFromTheMiddleOfAViewHasAPlaceThere(t *testing.T) { placeInTheMiddle(t) }

func TestPlacesAreReadAsTheyWereWritten(t *testing.T) {
	for promised, era := range []Era{{}, {1, "majority:1"}, {5, "majority:1,2,3"}} {
		p := Place{Earlier{Lineage: Lineage{Label: Label{1}, End: someName, Line: []Ancestor{{Label{2}, someView, 3}}, Rank: 8, Era: era}}, someView, 9,
			[]broadcast.Mark{{Node: 3, Boot: 4, Sequence: 5}, {Node: 6, Boot: 7, Sequence: 8}}}
		p.Remembers, p.Promised = true, uint64(promised)*generation
		b := AppendPlace([]byte("x"), &p)
		got, rest, err := ParsePlace(append(b, "rest"...)[1:])
		require.NoError(t, err)
		require.Equal(t, p, got)
		require.Equal(t, "rest", string(rest))
		for n := range len(b) - 1 {
			_, _, err := ParsePlace(b[1 : 1+n])
			require.Error(t, err)
		}
	}
}

// store tells a replica that its disk has what its application has.
func (w *world) store(i int) {
	n := w.nodes[i]
	w.perform(i, n.r.HandleStored(w.now, Point{n.place.View, n.place.Position}, n.place.Rank, nil))
}

// lasting returns the last position that a node said to last in its view.
func (n *node) lasting() (position uint64, any bool) {
	for _, e := range n.lasts {
		if e.Lasting && e.At.View == n.view.ID {
			position, any = e.At.Position, true
		}
	}
	return position, any
}

func TestAStateLastsOnTheDisksOfAQuorum(t *testing.T) { lastsOnDisks(t) }

func lastsOnDisks(t testing.TB) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	for _, q := range []quorum.System{majority, nil} {
		w := newWorld(3, Config{Stored: true, Quorum: q})
		w.install(0, 1, 2)
		w.op(0, "a")
		at := w.nodes[0].place.Position
		w.store(0)
		_, any := w.nodes[0].lasting()
		require.False(t, any)
		w.store(1)
		w.op(1, "b")
		if q == nil {
			_, any = w.nodes[0].lasting()
			require.False(t, any)
			w.store(2)
		}
		for _, n := range w.nodes {
			position, any := n.lasting()
			require.True(t, any)
			require.Equal(t, at, position)
		}
		w.install(0, 1)
		for i := range 2 {
			e := w.nodes[i].lasts[len(w.nodes[i].lasts)-1]
			require.False(t, e.Lasting, "b will not be said to last")
		}
		w.store(0)
		w.store(1)
		position, any := w.nodes[0].lasting()
		require.True(t, any)
		require.Zero(t, position, "but it does, since the state at the beginning of the view does")
		strict := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}
		for range 3 {
			w.perform(0, []Effect{{Kind: Broadcast, Options: strict, Payload: AppendOp(nil, []byte("c"))}})
			require.False(t, w.nodes[0].last.Lasting, "no disk has it, though all have what came before")
			w.store(0)
			w.store(1)
		}
		w.perform(0, []Effect{{Kind: Broadcast, Options: strict, Payload: AppendBarrier(nil)}})
		require.True(t, w.nodes[0].last.Lasting)
	}
}

// lastsWhenApplied has the news that disks have an operation come to a member before the reports
// of the view do. The member says that the operation lasts when it has applied it, since it holds
// its answer back until then.
func lastsWhenApplied(t testing.TB) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	w := newWorld(3, Config{Stored: true, Quorum: majority})
	w.install(0, 1, 2)
	late, strict := lane{0, broadcast.ClassOrdered}, broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}
	var report []byte // the last one, which comes behind the operation
	w.hold = func(from int, p []byte) bool {
		if kind(p[0]) != kindReport || from != 2 {
			return false
		}
		report = p
		return true
	}
	w.tardy = []lane{late}
	w.install(0, 1, 2)
	w.hold = nil
	w.opWith(0, "a", strict)
	w.perform(2, []Effect{{Kind: Broadcast, Options: marker, Payload: report}})
	w.store(1)
	w.store(2)
	require.Empty(t, w.nodes[0].app)
	_, any := w.nodes[0].lasting()
	require.False(t, any)
	w.catchUp(late)
	require.Equal(t, "a", w.nodes[0].app)
	position, any := w.nodes[0].lasting()
	require.True(t, any)
	require.Equal(t, w.nodes[1].place.Position, position)
}

func TestWhatLastsIsSaidWhenItIsApplied(t *testing.T) { lastsWhenApplied(t) }

// lastsWhenRestored has a member that waits for the state submit an operation, which the disks of
// the others have before the member does. Nothing else comes that would say so again.
func lastsWhenRestored(t testing.TB) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	w := newWorld(3, Config{Stored: true, Quorum: majority})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.restart(2, 1)
	w.nodes[0].lazy, w.nodes[1].lazy = true, true
	w.install(0, 1, 2)
	strict := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}
	w.opWith(2, "b", strict)
	w.store(0)
	w.store(1)
	require.Empty(t, w.nodes[2].app, "it has no state yet")
	w.nodes[2].lasts = nil
	w.answer(0)
	w.answer(1)
	w.run(10 * time.Millisecond)
	own := w.nodes[2].last
	require.Equal(t, "ab", w.nodes[2].app)
	require.Equal(t, Apply, own.Kind)
	require.False(t, own.Lasting)
	position, any := w.nodes[2].lasting()
	require.True(t, any, "the answer is held back until this is said")
	require.Equal(t, own.At.Position, position)
}

func TestWhatLastsIsSaidWhenTheStateHasCome(t *testing.T) { lastsWhenRestored(t) }
