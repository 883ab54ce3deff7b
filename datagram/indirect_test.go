package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// heardOnce returns a service that has just received a fast packet of a peer.
func heardOnce() (*Service, timed.Incarnation, timed.Instant) {
	now := timed.Instant(time.Hour)
	s := New(Config{Self: timed.Incarnation{Node: 1, Boot: 10}, Timing: timed.LAN()}, now)
	peer := timed.Incarnation{Node: 2, Boot: 20}
	s.AddPeer(now, peer.Node)
	stamp := timed.Instant(7 * time.Hour)
	for range 2 { // the first one shows that it hears us, the second that it is heard
		h := Header{Source: 2, Destination: 1, Boot: 20, Stamp: stamp,
			Echo: Echo{Boot: 10, Sent: now - 1000, Received: stamp - 1000, Latest: now - 1000, Heard: stamp}}
		s.HandlePacket(now, &h, nil)
	}
	return s, peer, now
}

func TestIndirectMessagesExtendAliveness(t *testing.T) {
	s, peer, now := heardOnce()
	tm := timed.LAN()
	require.True(t, s.Alive(now).Has(2))
	last := now
	for since := now; since <= now.Add(tm.WordLasts()); since = since.Add(tm.Expires / 2) {
		s.NoteHeardIndirectly(since, peer)
		last = since
	}
	require.True(t, s.Alive(last.Add(tm.Expires-1)).Has(2))
	var h Header
	h.Destination = 2
	s.SetReady()
	s.FillEcho(last, &h)
	require.Equal(t, last, h.Echo.Heard, "the echo reports it")
	s.NoteHeardIndirectly(last.Add(1), timed.Incarnation{Node: 2, Boot: 21})
	s.NoteHeardIndirectly(last.Add(1), timed.Incarnation{Node: 3, Boot: 20})
	s.NoteHeardIndirectly(now.Add(tm.WordLasts()+1), peer)
	require.False(t, s.Alive(last.Add(tm.Expires)).Has(2),
		"it ends without a direct packet; another incarnation and an unknown node do not extend it")
	require.False(t, s.Alive(last).Has(3))
}

func TestIndirectMessagesReplaceKeepalivesForAWhile(t *testing.T) {
	s, peer, now := heardOnce()
	tm := timed.LAN()
	s.NoteSent(now, peer.Node)
	due := now
	for s.KeepalivesDue(due, false).Empty() {
		s.NoteSentIndirectly(due, peer.Node)
		due = due.Add(tm.KeepalivePeriod / 2)
	}
	require.Greater(t, due.Sub(now), 6*tm.KeepalivePeriod)
	require.LessOrEqual(t, due.Sub(now), tm.IndirectPeriod())
}

// What others passed on of an incarnation says nothing about the next one.
func passedOnOfTheFormer(t testing.TB) {
	s := newService(1, 2)
	p := s.peers[2]
	p.aliveUntil, p.indirectUntil = at(time.Hour), at(time.Hour)
	s.accept(p, &Header{Source: 2, Boot: 7})
	s.noteFast(at(1), p, &Header{Source: 2, Boot: 7, Stamp: at(1), Echo: Echo{Boot: 100, Heard: at(0)}})
	require.Less(t, p.aliveUntil, at(time.Minute))
}

func TestWhatWasPassedOnOfAFormerIncarnation(t *testing.T) { passedOnOfTheFormer(t) }

// What others passed on counts on when a direct packet says that it heard this node longer
// ago.
func TestADirectPacketEndsNothingIndirect(t *testing.T) { directAfterIndirect(t) }

func directAfterIndirect(t testing.TB) {
	s, peer, now := heardOnce()
	tm := timed.LAN()
	since := now.Add(tm.Expires / 2)
	s.NoteHeardIndirectly(since, peer)
	stamp := timed.Instant(7 * time.Hour).Add(tm.Expires / 2)
	h := Header{Source: 2, Destination: 1, Boot: 20, Stamp: stamp,
		Echo: Echo{Boot: 10, Sent: now - 1000, Received: stamp.Add(-tm.Expires/2) - 1000, Latest: now, Heard: stamp.Add(-tm.Expires / 2)}}
	require.Equal(t, Delivered, s.HandlePacket(since, &h, nil)[0].Kind)
	require.True(t, s.Alive(since.Add(tm.Expires-1)).Has(2))
}

// A peer that says that it does not hear this node is not alive, whatever others say, and
// gets every keepalive.
func TestADeafPeerIsNotAlive(t *testing.T) { deafPeer(t) }

func deafPeer(t testing.TB) {
	s, peer, now := heardOnce()
	tm := timed.LAN()
	for range 2 {
		now = now.Add(tm.Expires / 2)
		s.NoteHeardIndirectly(now, peer)
	}
	require.True(t, s.Alive(now).Has(2))
	s.NoteSent(now, peer.Node)
	stamp := timed.Instant(7 * time.Hour).Add(tm.Expires)
	h := Header{Source: 2, Destination: 1, Boot: 20, Stamp: stamp,
		Echo: Echo{Boot: 10, Sent: now.Add(-tm.Expires), Received: stamp.Add(-tm.Expires), Latest: now.Add(-tm.Expires), Heard: stamp.Add(-tm.Expires)}}
	require.Equal(t, Delivered, s.HandlePacket(now, &h, nil)[0].Kind)
	require.False(t, s.Alive(now).Has(2), "it has not heard this node for long")
	s.NoteHeardIndirectly(now.Add(1), peer)
	require.False(t, s.Alive(now).Has(2), "others say that it runs")
	now = now.Add(tm.KeepalivePeriod / 2)
	s.NoteSentIndirectly(now, peer.Node)
	require.Equal(t, timed.SetOf(2), s.KeepalivesDue(now.Add(tm.KeepalivePeriod/2), false))
}

// Others hear a peer whose clock contradicts this node's, and that ends no separation.
func wordAcrossAFault(t testing.TB) {
	s, peer, now := heardOnce()
	s.distrust(now, s.peers[2], 2)
	s.NoteHeardIndirectly(now.Add(1), peer)
	require.False(t, s.Alive(now.Add(1)).Has(2))
	age, ok := s.LastFast(now, 2)
	require.True(t, ok)
	require.Zero(t, age, "the word of others is no fast packet")
}

func TestTheWordOfOthersEndsNoSeparation(t *testing.T) { wordAcrossAFault(t) }
