package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
)

// quiet requires that no state was merged or discarded.
func quiet(t testing.TB, w *world) {
	t.Helper()
	for _, n := range w.nodes {
		for _, k := range []EventKind{EventMerged, EventDiscarded, EventStateLost} {
			_, happened := n.has(k)
			require.False(t, happened, "node %v: event %d", n.inc.Node, k)
		}
	}
}

// only delivers an operation to one node, as the last one before its incarnation ends.
func (w *world) only(i int, text string) {
	n := w.nodes[i]
	d := broadcast.Delivery{ID: broadcast.ID{Sender: n.inc.Node, Boot: n.inc.Boot, Class: broadcast.ClassOrdered, Sequence: 99},
		Options: marker, Position: n.position + 1, Payload: AppendOp(nil, []byte(text))}
	w.perform(i, n.r.HandleDelivery(w.now, d, nil))
}

// The state of a lone node goes with it into its next incarnations, even those that see no
// view.
func aloneKeeps(t testing.TB) {
	w := newWorld(2, Config{})
	w.install(0)
	w.op(0, "a")
	w.renew(0, 1)
	w.renew(0, 2)
	w.install(0)
	w.op(0, "b")
	all(t, w, "ab", 0)
	w.renew(0, 3)
	w.install(0)
	w.install(0)
	w.renew(0, 4)
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1)
	quiet(t, w)
}

func TestALoneNodeKeepsItsStateInTheNextIncarnation(t *testing.T) { aloneKeeps(t) }

// All nodes of a group begin new incarnations at once, at different positions. The state
// that got furthest contains the others.
func sharedEnd(t testing.TB, cfg Config) {
	w := newWorld(3, cfg)
	w.install(0, 1, 2)
	w.op(0, "a")
	w.only(1, "b")
	for i := range 3 {
		w.renew(i, 1)
	}
	w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1, 2)
	quiet(t, w)
}

func sharedEnds(t testing.TB) {
	sharedEnd(t, Config{})
	sharedEnd(t, Config{Quorum: majority(1, 2, 3)})
}

func TestTheStateThatGotFurthestContinues(t *testing.T) { sharedEnds(t) }

// An incarnation without operations leaves its state as it was: others that continue it are
// known to contain it.
func idleEnd(t testing.TB) {
	w := newWorld(2, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.only(1, "b")
	for i := range 2 {
		w.renew(i, 1)
	}
	w.install(0)
	w.run(10 * time.Millisecond)
	w.renew(0, 2)
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1)
	quiet(t, w)
}

func TestAnIdleIncarnationLeavesItsStateAsItWas(t *testing.T) { idleEnd(t) }

// A node that comes back with an earlier state gets that of the others, which contains it.
func TestAnEarlierStateThatOthersContinueIsNotMerged(t *testing.T) {
	for _, cfg := range []Config{{}, {Quorum: majority(1, 2, 3)}} {
		w := newWorld(3, cfg)
		w.install(0, 1, 2)
		w.op(0, "a")
		w.renew(2, 1)
		w.op(0, "b")
		w.install(0, 1)
		w.op(1, "c")
		w.install(2)
		w.install(0, 1, 2)
		w.run(10 * time.Millisecond)
		all(t, w, "abc", 0, 1, 2)
		quiet(t, w)
	}
}

// A node has delivered something that the others have not, and its incarnation ends. Its
// state is then a branch.
func earlierIsABranch(t testing.TB) {
	w := newWorld(3, Config{})
	w.install(0, 1, 2)
	w.op(0, "a")
	w.only(2, "x")
	w.renew(2, 1)
	w.install(0, 1)
	w.op(1, "c")
	w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "(ac|ax|)", 0, 1, 2)
}

func TestAnEarlierStateWithMoreIsABranch(t *testing.T) { earlierIsABranch(t) }

// The place of transitional Timed messages depends on how much of the view a member has,
// so they do not tell whether its state contains that of a member whose incarnation ended.
func flushedIsNoPrefix(t testing.TB) {
	w := newWorld(2, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.only(1, "x")
	w.renew(1, 1)
	n := w.nodes[0]
	d := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: n.inc.Boot, Class: broadcast.ClassOrdered, Sequence: 98},
		Options: broadcast.Options{Order: broadcast.TimedOrder}, Transitional: true, Flushed: true, Position: n.position + 1, Payload: AppendOp(nil, []byte("t"))}
	w.perform(0, n.r.HandleDelivery(w.now, d, nil))
	w.install(0)
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "(at|ax|)", 0, 1)
}

func TestAFlushedDeliveryIsNoPrefix(t *testing.T) { flushedIsNoPrefix(t) }

// namedInTheMiddle has a node get the state in the middle of a view, behind messages that are
// no operations, and find it on its disk. Others leave that view, with or without more, and
// go on.
func namedInTheMiddle(t testing.TB) {
	for _, next := range []func(*world){
		func(w *world) { w.flushed(0, "b"); w.install(0) },
		func(w *world) { w.install(0); w.op(0, "b") },
		func(w *world) { w.install(0); w.flushed(0, "b"); w.install(0) },
	} {
		for _, before := range []string{"", "x"} { // in the view
			w := newWorld(3, Config{Stored: true})
			w.install(0, 1)
			w.op(0, "a")
			w.nodes[0].refuses, w.nodes[1].lazy = true, true
			w.install(0, 1, 2)
			if before != "" {
				w.op(0, before)
			}
			w.nodes[1].refuses = true
			w.answer(1)
			w.nodes[1].refuses, w.nodes[1].lazy = false, false
			w.run(3 * time.Second)
			require.Equal(t, "a"+before, w.nodes[2].app)
			w.crash(2, 1)
			next(w)
			w.nodes[0].refuses = false
			w.install(0, 1, 2)
			w.run(10 * time.Millisecond)
			all(t, w, "a"+before+"b", 0, 1, 2)
			quiet(t, w)
		}
	}
}

func TestANameInTheMiddleOfAViewIsContinued(t *testing.T) { namedInTheMiddle(t) }

// waitsWithAnother returns a world in which a node with the state "a" of an earlier
// incarnation waits for the state "ab" of another, whose snapshot does not come.
func waitsWithAnother() *world {
	w := newWorld(3, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.renew(1, 1)
	w.install(0)
	w.op(0, "b")
	w.nodes[0].lazy = true
	w.install(0, 1)
	return w
}

// A node waits for a state that contains its earlier one, and the members with that state
// are gone before it comes. What the node has is then as good as any.
func TestAnEarlierStateIsKeptUntilAnotherReplacesIt(t *testing.T) {
	w := waitsWithAnother()
	require.Equal(t, Transferring, w.nodes[1].r.Situation())
	w.install(1)
	all(t, w, "a", 1)
	w.install(2)
	w.op(2, "z")
	w.install(1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "(a|z|)", 1, 2)
}

// Deliveries of a view that did not settle belong to no state yet, and their senders hear
// that nobody knows what becomes of them.
func TestWhatHasNotSettledEndsWithTheIncarnation(t *testing.T) {
	w := newWorld(2, Config{})
	w.hold = func(from int, p []byte) bool { return kind(p[0]) == kindReport && from == 1 }
	w.install(0, 1)
	w.op(0, "a")
	n := w.nodes[0]
	w.renew(0, 1)
	require.Equal(t, Skip, n.last.Kind)
	w.hold = nil
	w.install(0)
	all(t, w, "", 0)
}

// A node gives up waiting for a state, and its own meets another one, in a view that ends
// before they are merged. Its state then continues nothing of the state that never came.
func awaitedIsNotContinued(t testing.TB) {
	w := waitsWithAnother()
	w.op(0, "c")
	w.install(2)
	w.op(2, "z")
	w.nodes[1].lazy = true // nothing is merged
	w.install(1, 2)
	w.op(2, "x")
	w.nodes[0].lazy, w.nodes[1].lazy = false, false
	w.install(0)
	w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "(abc|ax|zx|)", 0, 1, 2)
}

func TestAStateThatNeverCameIsNotContinued(t *testing.T) { awaitedIsNotContinued(t) }

// A merger continues what it merges: a member that was left behind with one of these states,
// which is itself a merger, gets the others' state, and is not merged once more.
func mergersContinue(t testing.TB) {
	w := newWorld(3, Config{})
	for i, text := range []string{"a", "b", "c"} {
		w.install(i)
		w.op(i, text)
	}
	for _, is := range [][]int{{0, 1}, {0, 2}, {0, 1}} {
		w.install(is...)
		w.run(10 * time.Millisecond)
	}
	all(t, w, "((a|b|)|c|)", 0, 1)
}

func TestAMergerContinuesWhatItMerges(t *testing.T) { mergersContinue(t) }

// Two states that continue a third one have ancestors of their own.
func TestLineagesShareNoAncestors(t *testing.T) {
	l := Lineage{Line: make([]Ancestor, 1, 2)}
	a := l.through(membership.ViewID{Sequence: 1}, 1)
	b := l.through(membership.ViewID{Sequence: 2}, 1)
	require.EqualValues(t, 1, a.Line[1].View.Sequence)
	require.EqualValues(t, 2, b.Line[1].View.Sequence)
}

// However many states a state continues, a member can say which one it has.
func TestAReportOfManyAncestorsFits(t *testing.T) {
	w := newWorld(2, Config{MaxPayload: LeastPayload, ChunkBytes: MinChunkBytes})
	w.install(0)
	w.op(0, "a")
	w.nodes[0].r.lineage.Line = make([]Ancestor, maxLine)
	longest := 0
	w.hold = func(_ int, p []byte) bool { longest = max(longest, len(p)); return false }
	w.install(0, 1)
	require.NotZero(t, longest)
	require.LessOrEqual(t, longest, LeastPayload)
}
