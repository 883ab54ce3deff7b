package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// waitsWhileItGrows reports whether a node asks for what is missing only when nothing has
// come for a while, and anew in each view.
func waitsWhileItGrows() bool {
	var g gap
	g.note(3, 5, 10)
	begins := g == gap{due: 10, at: 3}
	g.note(3, 6, 20)
	waits := g == gap{due: 10, at: 3}
	g.tries = 2
	g.note(4, 6, 30)
	grows := g == gap{due: 30, at: 4}
	g.note(6, 6, 40)
	ends := g == gap{}
	s, st := New(Config{}), stream{boot: 100, gap: gap{due: 1, at: 2, tries: 3}}
	st.begin(&s.arena, 100, 2)
	return begins && waits && grows && ends && st.gap == gap{}
}

func TestGapsWaitWhileMessagesCome(t *testing.T) { require.True(t, waitsWhileItGrows()) }

// asksWhoHasIt reports whether a member asks the sender of a message first, and then only
// those that have acknowledged it.
func asksWhoHasIt() bool {
	g := newTrio(4, Config{})
	s := g.nodes[0]
	s.members[1].stream(ClassOrdered).ordered = 1
	s.members[3].ack = s.have + 1
	for tries, want := range []int{1, 3, 3, 3, 3} {
		if s.target(1, ClassOrdered, tries) != want {
			return false
		}
	}
	return true
}

func TestAMemberAsksThoseThatHaveAMessage(t *testing.T) { require.True(t, asksWhoHasIt()) }

// wantsTwoWindows reports whether a member wants no more of a sender than it could keep,
// whatever the sender says to have sent.
func wantsTwoWindows() bool {
	s := newTrio(2, Config{MaxMessages: 16, MaxPayload: 100}).nodes[0]
	for said, wanted := range map[uint64]uint64{MaxSequence: 32, 33: 32, 32: 32, 31: 31} {
		st := s.members[1].stream(ClassOrdered)
		st.tail = 0
		s.handleHeader(1, &Header{Tails: [classes]uint64{ClassOrdered: said}})
		if s.wanted(1, ClassOrdered) != st.floor+wanted {
			return false
		}
	}
	return true
}

func TestAMemberWantsNoMoreThanItKeeps(t *testing.T) { require.True(t, wantsTwoWindows()) }

// asksOthersToo reports whether a member gets a message of a sender that it does not hear from
// the others, and asks for a bounded number of ranges in one request.
func asksOthersToo(t testing.TB) bool {
	g := newTrio(3, Config{})
	g.drop = func(from, to int, _ *Packet) bool { return from == 1 && to == 2 }
	_, err := g.cast(1, []byte("x"), total)
	require.NoError(t, err)
	g.run(10 * aFewPeriods)

	var p Packet
	st := stream{ring: make([]entry, 64), top: 3 * maxWants}
	for seq := uint64(2); seq <= st.top; seq += 2 {
		st.at(seq).flags = held
	}
	st.missing(&p, incarnation(1), ClassOrdered, st.top)
	return g.count[2] == 1 && len(p.Wants) == maxWants
}

func TestAMemberAsksOthersToo(t *testing.T) { require.True(t, asksOthersToo(t)) }
