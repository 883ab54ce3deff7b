package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// heardOnce is a service that has had one fast packet of a peer just now.
func heardOnce() (*Service, timed.Incarnation, timed.Instant) {
	now := timed.Instant(time.Hour)
	s := New(Config{Self: timed.Incarnation{Node: 1, Boot: 10}, Timing: timed.LAN()}, now)
	peer := timed.Incarnation{Node: 2, Boot: 20}
	s.AddPeer(peer.Node, now)
	stamp := timed.Instant(7 * time.Hour)
	for range 2 { // the first one shows that it hears us, the second that it is heard
		h := Header{Source: 2, Destination: 1, Boot: 20, Stamp: stamp,
			Echo: Echo{Boot: 10, Sent: now - 1000, Received: stamp - 1000, Latest: now - 1000, Heard: stamp}}
		s.HandlePacket(now, &h)
	}
	return s, peer, now
}

func TestAWordByWayOfOthersProlongsAliveness(t *testing.T) {
	s, peer, now := heardOnce()
	tm := timed.LAN()
	require.True(t, s.Alive(now).Has(2))
	last := now
	for since := now; since <= now.Add(tm.AroundPeriod()+tm.Expires); since = since.Add(tm.Expires / 2) {
		require.True(t, s.HeardAround(peer, since))
		last = since
	}
	require.True(t, s.Alive(last.Add(tm.Expires-1)).Has(2))
	var h Header
	h.Destination = 2
	s.SetReady()
	s.Echo(&h, last)
	require.Equal(t, last, h.Echo.Heard, "the echo says as much")
	require.True(t, s.HeardAround(peer, now.Add(tm.AroundPeriod()+tm.Expires+1)))
	require.False(t, s.Alive(last.Add(tm.Expires)).Has(2), "without a direct packet it ends")
	require.False(t, s.HeardAround(timed.Incarnation{Node: 2, Boot: 21}, now), "another incarnation")
	require.False(t, s.HeardAround(timed.Incarnation{Node: 3, Boot: 20}, now), "nobody")
}

func TestAKeepaliveIsSparedForAWhile(t *testing.T) {
	s, peer, now := heardOnce()
	tm := timed.LAN()
	s.Sent(peer.Node, now)
	due := now
	for s.Due(due, false).Empty() {
		s.SentAround(peer.Node, due)
		due = due.Add(tm.KeepalivePeriod / 2)
	}
	require.Greater(t, due.Sub(now), 6*tm.KeepalivePeriod)
	require.LessOrEqual(t, due.Sub(now), tm.AroundPeriod())
}
