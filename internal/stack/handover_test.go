package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// A vote is handed over with the view that is installed here: the successor inherits that
// view, and no other one.
func TestVotesAreHandedOverWithTheInstalledView(t *testing.T) { handedWithTheView(t) }

func handedWithTheView(t testing.TB) {
	w := newWired(3, nil)
	w.pass(500 * time.Millisecond)
	s, from := w.nodes[1], w.nodes[0].Self()
	to, _ := s.Election().Locked(w.now)
	require.Equal(t, from, to)
	p := &wire.Packet{Resign: s.Membership().View().ID, Successor: 2}
	p.Header.Stamp = w.now + 1
	p.Resign.Sequence++
	s.handleHandOver(w.now, from, p)
	require.False(t, s.Election().Handed().Valid())
	p.Resign.Sequence--
	s.handleHandOver(w.now, w.nodes[2].Self(), p)
	p.Successor = 9
	s.handleHandOver(w.now, from, p)
	require.False(t, s.Election().Handed().Valid())
	require.Nil(t, s.Membership().Inherited())
	p.Successor = 2
	s.handleHandOver(w.now, from, p)
	require.Equal(t, s.Self(), s.Election().Handed())
	require.Equal(t, s.Membership().View(), s.Membership().Inherited())
}

// A build that does not know of votes that are handed over takes its part as before: the
// successor asks again, or waits, until the votes are freed.
func TestHandingOverToAndBesideOlderBuilds(t *testing.T) { olderBuilds(t) }

func olderBuilds(t testing.TB) {
	for old := range 3 { // 0: none, 1: the successor, 2: a voter
		w := newWired(3, nil)
		w.pass(500 * time.Millisecond)
		require.True(t, w.nodes[0].Election().Leads(w.now))
		began := w.now
		w.perform(0, w.nodes[0].HandOver(w.now, 2, nil))
		told := false
		for i, b := range w.flight {
			require.NoError(t, w.dec.Decode(b, &w.packet))
			if w.packet.Has(wire.FrameResign) && w.to[i] == old && old > 0 {
				require.True(t, w.packet.Has(wire.FrameSuccessor))
				w.packet.Frames &^= wire.FrameSuccessor // what an older build makes of it
				var err error
				w.flight[i], err = w.enc.Append(b[:0], &w.packet)
				require.NoError(t, err)
				w.counter++
				wire.FinishWhole(w.flight[i], w.now, w.counter)
				told = true
			}
		}
		require.Equal(t, old > 0, told)
		const message = 200 * time.Microsecond
		most := 5 * message
		if old == 0 {
			most = 3 * message
		}
		for !w.nodes[1].Election().Leads(w.now) {
			require.Less(t, w.now.Sub(began), most, "old node %d", old)
			w.pass(message)
		}
		w.pass(500 * time.Millisecond)
		require.Equal(t, timed.SetOf(1, 2, 3), w.nodes[2].Membership().View().Set)
		require.Equal(t, timed.NodeID(2), w.nodes[2].Membership().View().ID.Leader)
	}
}
