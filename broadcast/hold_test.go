package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// letter returns a run of one message of the first machine.
func letter(sequence uint64, text string) *Run {
	inc := incarnation(0)
	return &Run{Sender: inc.Node, Boot: inc.Boot, Class: ClassOrdered, Options: Options{TotalOrder, WeakAtomicity},
		First: sequence, Count: len(text), Size: 1, Payload: []byte(text), Begins: true, Ends: true}
}

// holdsFourWindows reports whether a member takes two windows of a sender, and two more only
// while a view changes, when it needs what others have.
func holdsFourWindows() bool {
	g := newTrio(3, Config{MaxMessages: 16, MaxPayload: 100})
	s := g.nodes[1]
	id := func(sequence uint64) ID {
		return ID{Sender: incarnation(0).Node, Boot: incarnation(0).Boot, Class: ClassOrdered, Sequence: sequence}
	}
	s.handleRun(letter(32, "ab")) // the last one has no place
	if s.Holds(id(32)) || s.Holds(id(33)) {
		return false
	}
	s.handleRun(letter(32, "a"))
	s.handleRun(letter(33, "b"))
	within := s.Holds(id(32)) && !s.Holds(id(33)) && s.Dropped.Overflow == 1
	s.Freeze(g.now, viewOf(2, 0, 1, 2), false)
	s.handleRun(letter(64, "c"))
	s.handleRun(letter(65, "d"))
	return within && s.Holds(id(64)) && !s.Holds(id(65)) && s.Dropped.Overflow == 2
}

func TestAMemberHoldsMoreWhileAViewChanges(t *testing.T) { require.True(t, holdsFourWindows()) }

// countsOnce reports whether messages that come again, together with new ones, count once in
// the room of their sender.
func countsOnce() bool {
	s := New(Config{MaxMessages: 16, MaxPayload: 100})
	var st stream
	st.begin(&s.arena, 100, 0)
	ok := st.put(&s.arena, letter(3, "c"), 16) && st.put(&s.arena, letter(2, "bcd"), 16) && st.bytes == 3*(1+perMessage)
	ok = ok && !st.put(&s.arena, letter(3, "cd"), 16) && st.put(&s.arena, letter(1, "abcd"), 16) && st.bytes == 4*(1+perMessage)
	ok = ok && len(st.cur.buf) == len("c"+"bcd"+"abcd") // those that bring nothing new take no memory
	st.drop(&s.arena, 4)
	return ok && st.bytes == 0
}

func TestMessagesThatComeAgainCountOnce(t *testing.T) { require.True(t, countsOnce()) }

// needsDoneOfItsPlan reports whether the leader of a proposal waits until all members have
// what its plan demands, and not until some have what another plan did.
func needsDoneOfItsPlan() bool {
	g := newTrio(3, Config{})
	s, v := g.nodes[0], viewOf(9, 0, 1, 2)
	s.Freeze(g.now, v, true)
	s.freeze.orders, s.freeze.lacking = []order{{2, &Plan{Proposal: v.ID}}}, timed.SetOf(2)
	s.handleDone(incarnation(1), membership.ViewID{Sequence: 8, Leader: v.ID.Leader, Boot: v.ID.Boot})
	other := incarnation(1)
	other.Boot++
	s.handleDone(other, v.ID)
	waits := !s.Ready(v.ID)
	s.handleDone(incarnation(1), v.ID)
	return waits && s.Ready(v.ID)
}

func TestAFlushIsOverWhenItsPlanIsDone(t *testing.T) { require.True(t, needsDoneOfItsPlan()) }

// acksAtOnce reports whether a member whose application has caught up says at once what it
// has held back: others wait for that.
func acksAtOnce() bool {
	g := newTrio(3, Config{Backlog: 100})
	s := g.nodes[1]
	for s.Pending() {
		g.turn()
	}
	s.slow.on, s.slow.backlog = true, 1000
	s.Consumed(949, 0)
	waits := !s.Pending() // it has more than half of the backlog still, and would soon be slow again
	s.Consumed(1, 0)
	return waits && s.Pending()
}

func TestWhoCatchesUpAcknowledgesAtOnce(t *testing.T) { require.True(t, acksAtOnce()) }

// refusesImpossible reports whether a decision is dropped whose ranges are of no member, of
// no class, or not in their order, and one that names no member as the next decider.
func refusesImpossible() bool {
	g := newTrio(3, Config{})
	s := g.nodes[1]
	for i, ranges := range [][]Range{{{Member: 3, Class: ClassOrdered, To: 1}}, {{Member: 0, Class: classes, To: 1}},
		{{Member: 1, Class: ClassOrdered, To: 1}, {Member: 0, Class: ClassOrdered, To: 1}}, {{Member: 0, To: 1}, {Member: 0, To: 2}}} {
		s.handleDecision(g.now, &Decision{Number: s.known + 1, Ranges: ranges})
		if s.known > 0 || s.Dropped.Invalid != uint64(i+1) {
			return false
		}
	}
	s.handleDecision(g.now, &Decision{Number: s.known + 1, Next: 3})
	refused := s.known == 0 && s.Dropped.Invalid == 5
	s.handleDecision(g.now, &Decision{Number: s.known + 1, Next: 2})
	return refused && s.known == 1
}

func TestImpossibleDecisionsAreDropped(t *testing.T) { require.True(t, refusesImpossible()) }

// takesNothingOfItsOwn reports whether a node takes no message from others that says to be its
// own: it has all that it has sent.
func takesNothingOfItsOwn() bool {
	s := newTrio(3, Config{}).nodes[0]
	s.handleRun(letter(1, "a"))
	return s.Dropped.Stranger == 1 && !s.Holds(ID{Sender: incarnation(0).Node, Boot: incarnation(0).Boot, Class: ClassOrdered, Sequence: 1})
}

func TestANodeTakesNothingOfItsOwn(t *testing.T) { require.True(t, takesNothingOfItsOwn()) }

// What one member says is stable takes nothing back that another one has said.
func TestStabilityIsNotTakenBack(t *testing.T) {
	s := New(Config{})
	require.True(t, s.noteStable([2]uint64{5, 3}))
	require.True(t, s.noteStable([2]uint64{4, 4}))
	require.Equal(t, [atomicities]uint64{StrongAtomicity: 5, StrictAtomicity: 4}, s.reported)
	require.False(t, s.noteStable([2]uint64{5, 4}))
}

// Messages with one stamp come in the order of their senders, and those of a sender in that of
// sending. Builds that had another order would deliver differently in one view.
func TestEqualStampsAreOrderedBySender(t *testing.T) {
	var h deferredHeap
	for _, a := range []deferredMessage{{stamp: 7, member: 2, seq: 1}, {stamp: 7, member: 1, seq: 9}, {stamp: 7, member: 1, seq: 8}, {stamp: 6, member: 3, seq: 1}, {stamp: 7, member: 0, seq: 99}} {
		h.push(a)
	}
	var got []uint64
	for len(h.heap) > 0 {
		got = append(got, h.pop().seq)
	}
	require.Equal(t, []uint64{1, 99, 8, 9, 1}, got)
}
