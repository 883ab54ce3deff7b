package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Nothing is known of a node that is no peer, or of one that was never heard.
func TestNothingIsKnownOfStrangers(t *testing.T) {
	s := newService(1, 2)
	for _, id := range []timed.NodeID{2, 9} {
		require.Zero(t, s.Boot(id))
		require.Zero(t, s.Newest(id))
		incumbent, _ := s.Incumbent(at(ms), id)
		require.Zero(t, incumbent)
		require.False(t, s.Fault(id))
		require.Equal(t, Unknown, s.LastDelay(id).Bound)
		require.Equal(t, at(5*ms), s.SentBefore(at(5*ms), id, at(ms)))
		require.Equal(t, NotHeard, echo(s, at(ms), id).Heard)
		require.Zero(t, challenged(s, id).Boot)
	}
	s.NoteRefusal(at(ms), 9, Refusal{55, at(ms), Unknown})
	s.NoteAcceptance(at(ms), 9)
	s.NoteSent(at(ms), 9)
	require.Empty(t, s.HandleTimeout(at(ms), nil))
}

// A peer that is added again is the one that it was; one that is removed is not alive.
func TestPeersAreAddedOnce(t *testing.T) { addedOnce(t) }

func addedOnce(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	s.AddPeer(at(12*ms), 2)
	require.Equal(t, timed.BootID(7), s.Boot(2))
	require.True(t, s.Alive(at(12*ms)).Has(2))
	s.RemovePeer(2)
	require.False(t, s.Alive(at(12*ms)).Has(2))
	require.Zero(t, s.Boot(2))
}

// The best of all pairs counts, for the bounds here and for those of the peer, and not
// the last one.
func TestTheBestPairsAreKept(t *testing.T) { bestPairs(t) }

func bestPairs(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	slow := hello(7, 20*ms)
	slow.Echo.Sent, slow.Echo.Received = at(10*ms), at(19*ms)
	take(t, s, 29*ms, slow, Delivered)
	require.Equal(t, Pair{at(10 * ms), at(11 * ms)}, Pair{echo(s, at(30*ms), 2).Sent, echo(s, at(30*ms), 2).Received})
	last := hello(7, 30*ms)
	last.Echo.Sent, last.Echo.Received = slow.Echo.Sent, slow.Echo.Received
	d := take(t, s, 31*ms, last, Delivered)
	require.InDelta(t, float64(2*ms), float64(d.Bound), float64(50*time.Microsecond))
}

// A peer that has found evidence against one of the two clocks is believed.
func TestAPeersDistrustIsBelieved(t *testing.T) { distrustIsBelieved(t) }

func distrustIsBelieved(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	h := hello(7, 20*ms)
	h.Echo.Heard = Distrusted
	take(t, s, 21*ms, h, Faulty)
	require.True(t, s.Fault(2))
	require.False(t, s.Alive(at(21*ms)).Has(2))
	old := newService(1, 2)
	take(t, old, 11*ms, hello(7, 10*ms), Accepted)
	take(t, old, 21*ms, hello(7, 20*ms), Delivered)
	h.Stamp = at(19 * ms)
	take(t, old, 22*ms, h, Delivered) // it was overtaken
	require.False(t, old.Fault(2))
}

// A pair from before a fault neither takes the place of one from after it nor says when a
// packet was sent.
func TestUnprovenPairsCountForNothing(t *testing.T) { unprovenPairs(t) }

func unprovenPairs(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	c := &s.peers[2].current
	best := c.best
	require.False(t, c.learnBest(Pair{at(12 * ms), at(12 * ms)}, false, s.cfg.Timing.MaxDrift), "it would be better")
	require.Equal(t, best, c.best)
	require.Less(t, s.SentBefore(at(30*ms), 2, at(20*ms)), at(30*ms))
	c.proven = false
	require.Equal(t, at(30*ms), s.SentBefore(at(30*ms), 2, at(20*ms)))
}
