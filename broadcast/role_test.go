package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// While several members send, the decider role rotates: over many decisions, each
// member issues about its share, even members that only listen.
func TestTheRoleRotatesWhileSeveralSend(t *testing.T) {
	g := newTrio(4, Config{})
	issued := make([]int, 4)
	g.drop = func(from, to int, p *Packet) bool {
		if to == (from+1)%4 {
			issued[from] += len(p.Decisions)
		}
		return false
	}
	for range 300 {
		for i := range 2 {
			_, err := g.cast(i, []byte("x"), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
			require.NoError(t, err)
		}
		for i := range g.nodes { // all send before any decision
			s := g.nodes[i]
			s.Reclaim()
			g.out = s.sendOwn(g.reading(0), g.out[:0])
			g.perform(i)
		}
		g.turn()
	}
	total := 0
	for _, n := range issued {
		total += n
	}
	require.Greater(t, total, 200)
	for i, n := range issued {
		require.Greater(t, n, total/8, "node %d of %v", i, issued)
	}
}

// decidesAlone reports whether the messages of the only sender reach the other members
// together with the decisions that order them.
func decidesAlone() bool {
	g := newTrio(3, Config{})
	g.keep = true
	opt := Options{Order: TotalOrder, Atomicity: WeakAtomicity}
	if _, err := g.cast(1, []byte("first"), opt); err != nil {
		return false
	}
	for range 3 { // to the decider, and from there to all
		g.turn()
	}
	for range 10 {
		if _, err := g.cast(1, []byte("next"), opt); err != nil {
			return false
		}
		before := len(g.delivered[0])
		g.act(1)
		g.act(0) // no other member has sent anything
		if len(g.delivered[0]) != before+1 {
			return false
		}
		g.act(2)
	}
	return true
}

func TestTheOnlySenderDecides(t *testing.T) { require.True(t, decidesAlone()) }

// decideInTurn reports whether the messages of members that send in turn reach the
// other members together with the decisions that order them, once the turn is known.
func decideInTurn(order ...int) bool {
	g := newTrio(3, Config{})
	g.keep = true
	for k := range 10 * len(order) {
		sender := order[k%len(order)]
		if _, err := g.cast(sender, []byte("x"), Options{Order: TotalOrder, Atomicity: WeakAtomicity}); err != nil {
			return false
		}
		listener := (sender + 1) % 3
		before := len(g.delivered[listener])
		g.act(sender)
		g.act(listener) // no other member has sent anything
		if k > 2*len(order) && len(g.delivered[listener]) != before+1 {
			return false
		}
		for range 3 {
			g.turn()
		}
	}
	return true
}

func TestWhoIsLikelyToSendNextDecides(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {0, 2}, {1, 1}} {
		require.True(t, decideInTurn(order...), order)
	}
}

// A prediction from one view does not carry over to the next.
func TestHabitsEndWithTheView(t *testing.T) {
	var h predictor
	h.begin(3)
	for _, who := range []uint8{0, 2, 0} {
		h.note([]Range{{Member: who}})
	}
	require.Equal(t, []int{0, 1, 0}, []int{h.next(0), h.next(1), h.next(2)}, "0 has just sent")
	h.note([]Range{{Member: 0}, {Member: 1}})
	require.Equal(t, []int{2, 1, 0}, []int{h.next(0), h.next(1), h.next(2)})
	h.begin(2)
	require.Equal(t, predictor{noMember, []int{noMember, noMember}}, h)
}

// The role returns to the only sender after one rotation behind its last message.
func TestTheRoleComesBackToTheOnlySender(t *testing.T) {
	g := newTrio(3, Config{})
	_, err := g.cast(1, []byte("x"), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.NoError(t, err)
	g.turn()
	g.turn()
	full := g.nodes[1].full
	require.Positive(t, full)
	g.run(10 * g.nodes[0].cfg.Timing.ElectionPeriod)
	for _, s := range g.nodes {
		require.Equal(t, full+3, s.known)
		require.Equal(t, 1, s.decider)
	}
}

// keepsTheLogMoving reports whether the only sender of small messages, each with a
// decision of its own, never waits for a keepalive.
func keepsTheLogMoving() bool {
	g := newTrio(3, Config{})
	for range 3 * logSize {
		if _, err := g.cast(1, []byte("x"), Options{Order: TotalOrder, Atomicity: WeakAtomicity}); err != nil {
			return false
		}
		g.turn()
	}
	g.turn()
	return g.count[0] == 3*logSize && g.count[1] == 3*logSize && g.count[2] == 3*logSize
}

func TestAcknowledgementsComeBeforeTheLogIsFull(t *testing.T) { require.True(t, keepsTheLogMoving()) }

// keepsWithinTheLog reports whether a decision has a place in the log unless it would take that of
// one that is not released.
func keepsWithinTheLog() bool {
	g := newTrio(3, Config{})
	s := g.nodes[1]
	for number := s.released + logSize - 1; number <= s.released+logSize+1; number++ {
		s.handleDecision(g.now, &Decision{Number: number})
	}
	within := s.log.has(s.released+logSize-1) && s.log.has(s.released+logSize) && !s.log.has(s.released+logSize+1)
	s.known, s.have = 5, 5 // of which no other has said that it has them
	s.handleDecision(g.now, &Decision{Number: logSize + 1})
	return within && !s.log.has(logSize+1)
}

// decidesWithinTheLog reports whether a decider waits when its next decision would take the place
// of one that is not released.
func decidesWithinTheLog() bool {
	s := newTrio(3, Config{}).nodes[1]
	s.decider = s.me
	reach := func(number uint64) bool {
		s.known, s.have = number, number
		return s.decides()
	}
	return reach(s.released+logSize-1) && !reach(s.released+logSize)
}

func TestTheLogIsNotOverrun(t *testing.T) {
	require.True(t, keepsWithinTheLog() && decidesWithinTheLog())
}

// Members await others while an ordered message is under way, and never otherwise.
func TestMembersAwaitDecisionsAndAcknowledgements(t *testing.T) {
	awaits := func(g *trio) (out [3]bool) {
		for i, s := range g.nodes {
			out[i] = s.Awaits()
		}
		return out
	}
	for _, a := range []Atomicity{WeakAtomicity, StrictAtomicity} {
		g := newTrio(3, Config{})
		require.Equal(t, [3]bool{}, awaits(g))
		_, err := g.cast(1, []byte("x"), Options{TotalOrder, a})
		require.NoError(t, err)
		g.act(1)
		require.Equal(t, [3]bool{false, true, true}, awaits(g), "%v: node 0 has yet to decide", a)
		g.act(0)
		g.act(1)
		if a == StrictAtomicity {
			require.Equal(t, [3]bool{true, true, true}, awaits(g), "an acknowledgement is missing")
		}
		g.act(2)
		g.act(0)
		g.act(1)
		require.Equal(t, [3]bool{}, awaits(g), "%v: all have delivered it", a)
		_, err = g.cast(2, []byte("y"), Options{Unordered, WeakAtomicity})
		require.NoError(t, err)
		g.act(2)
		require.Equal(t, [3]bool{}, awaits(g), "an unordered message waits for nothing")
	}
	g := newTrio(3, Config{})
	_, err := g.cast(1, []byte("x"), Options{TotalOrder, WeakAtomicity})
	require.NoError(t, err)
	g.act(1)
	g.nodes[1].Freeze(g.now, viewOf(2, 0, 1, 2), false)
	require.False(t, g.nodes[1].Awaits(), "no member decides while a view changes")
}
