package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// hearsOfStability reports whether members that do not hear each other deliver a Strict
// message, because a third one says that all have it, and whether such news counts at once.
func hearsOfStability(t testing.TB) bool {
	g := newTrio(3, Config{})
	g.drop = func(from, to int, _ *Packet) bool { return from+to == 1 }
	_, err := g.cast(2, []byte("strict"), Options{Order: TotalOrder, Atomicity: StrictAtomicity})
	require.NoError(t, err)
	g.run(10 * aFewPeriods)
	s := newTrio(3, Config{}).nodes[0]
	s.known, s.have = 3, 3
	s.handleHeader(2, &Header{Have: s.members[2].ack, Stable: [2]uint64{3, 0}})
	s.handleHeader(2, &Header{Have: s.members[2].ack, Stable: [2]uint64{3, 2}})
	return g.count[0] == 1 && g.count[1] == 1 && s.stable[StrongAtomicity] == 3 && s.stable[StrictAtomicity] == 2
}

func TestMembersHearOfStabilityFromOthers(t *testing.T) { require.True(t, hearsOfStability(t)) }

// finishesAsAgreed reports whether a member delivers at the end of a view, as regular messages,
// those that another one knew to be stable, and names those who came with it from that view.
func finishesAsAgreed(t testing.TB) bool {
	g := newTrio(3, Config{})
	g.keep = true
	g.drop = func(from, to int, _ *Packet) bool { return to == 0 } // who hears of no acknowledgement
	for range 2 {
		_, err := g.cast(0, []byte("x"), Options{Order: TotalOrder, Atomicity: StrictAtomicity})
		require.NoError(t, err)
		g.turn()
	}
	s := g.nodes[0]
	require.EqualValues(t, 2, s.have)
	v := viewOf(2, 0, 1, 2)
	v.Members[1].Previous = s.view.ID
	s.Freeze(g.now, v, false)
	out := s.finish(v, &Branch{Previous: s.view.ID, End: 2, Stable: [2]uint64{2, 1}}, nil)
	var regular, transitional int
	along := false
	for _, e := range out {
		for _, d := range e.Deliveries {
			if d.Transitional {
				transitional++
			} else {
				regular++
			}
		}
		if e.Kind == Transition {
			along = e.Along == timed.SetOf(2)
		}
	}
	return along && regular == 1 && transitional == 1
}

func TestAViewIsFinishedAsAgreed(t *testing.T) { require.True(t, finishesAsAgreed(t)) }

// countsWhatWaits reports whether all that the application takes, and nothing else, counts as
// its backlog: payloads, and a little for each message.
func countsWhatWaits() bool {
	s := newTrio(2, Config{}).nodes[0]
	s.deliveries = []Delivery{{Payload: make([]byte, 7)}, {}}
	s.handOut(0, nil)
	waits := s.slow.backlog == 7+2*perMessage
	s.Consumed(7, 1)
	one := s.slow.backlog == perMessage
	s.Consumed(0, 1)
	return waits && one && s.slow.backlog == 0
}

func TestWhatWaitsIsCounted(t *testing.T) { require.True(t, countsWhatWaits()) }

// unorderedWaits reports whether an Unordered message waits for those that its atomicity names:
// for nobody, for most members, or for all.
func unorderedWaits() bool {
	for atomicity, waits := range map[Atomicity][2]bool{WeakAtomicity: {}, StrongAtomicity: {true, false}, StrictAtomicity: {true, true}} {
		s := newTrio(3, Config{}).nodes[0]
		st := s.members[1].stream(ClassUnordered)
		r := letter(1, "x")
		r.Sender, r.Boot, r.Class, r.Options = s.members[1].Node, st.boot, ClassUnordered, Options{Unordered, atomicity}
		st.put(&s.arena, r, 16)
		s.deliverUnordered(1, 1, false)
		alone := len(s.deliveries) == 0
		st.majority = 1
		s.deliverUnordered(1, 1, false)
		most := len(s.deliveries) == 0
		st.all = 1
		s.deliverUnordered(1, 1, false)
		if waits != [2]bool{alone, most} || len(s.deliveries) != 1 {
			return false
		}
	}
	return true
}

func TestAnUnorderedMessageWaitsForItsAtomicity(t *testing.T) { require.True(t, unorderedWaits()) }
