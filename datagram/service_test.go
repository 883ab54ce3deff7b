package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// In these tests all clocks agree and run at the same rate, so that instants are easy
// to read. The tests of the bounds let clocks drift.

const (
	ms   = time.Millisecond
	zero = timed.Instant(1_000_000_000)
)

// at returns the instant d after the tests begin.
func at(d time.Duration) timed.Instant { return zero.Add(d) }

func newService(self timed.NodeID, peers ...timed.NodeID) *Service {
	s := New(Config{Self: timed.Incarnation{Node: self, Boot: timed.BootID(self) * 100}, Timing: timed.LAN()}, zero)
	for _, id := range peers {
		s.AddPeer(zero, id)
	}
	s.SetReady()
	return s
}

// hello returns a packet of node 2 to node 1 that left at sent. It echoes a packet of
// ours that left 2 ms before and took 1 ms, and reports that it was heard fast.
func hello(boot timed.BootID, sent time.Duration) *Header {
	return &Header{Source: 2, Destination: 1, Boot: boot, Stamp: at(sent), Echo: Echo{
		Boot: 100, Sent: at(sent - 2*ms), Received: at(sent - ms), Latest: at(sent - 2*ms), Heard: at(sent - ms)}}
}

// silent returns a packet that echoes nothing.
func silent(boot timed.BootID, sent time.Duration) *Header {
	return &Header{Source: 2, Destination: 1, Boot: boot, Stamp: at(sent), Echo: Echo{Heard: NotHeard}}
}

func take(t testing.TB, s *Service, received time.Duration, h *Header, want Kind) Delay {
	t.Helper()
	effects := s.HandlePacket(at(received), h, nil)
	require.Len(t, effects, 1)
	require.Equal(t, want, effects[0].Kind)
	require.Equal(t, timed.Incarnation{Node: h.Source, Boot: h.Boot}, effects[0].From)
	return effects[0].Delay
}

// Model, "Acceptance".

// echo returns the echo in a packet that leaves for a peer.
func echo(s *Service, now timed.Instant, id timed.NodeID) Echo {
	h := Header{Destination: id}
	s.FillEcho(now, &h)
	return h.Echo
}

// challenged returns the echo for the incarnation that challenges the accepted one.
func challenged(s *Service, id timed.NodeID) Echo {
	h := Header{Destination: id}
	s.FillChallengerEcho(&h)
	return h.Echo
}

func TestABootIdIsAcceptedOnlyWithAFreshEchoOfOurs(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, silent(7, 10*ms), Challenged)
	require.Zero(t, s.Boot(2))
	require.Equal(t, Echo{Boot: 7, Sent: at(10 * ms), Received: at(11 * ms), Latest: at(10 * ms), Heard: NotHeard},
		echo(s, at(12*ms), 2), "it is echoed anyway, so that cold starts succeed")

	other := hello(7, 20*ms)
	other.Echo.Boot = 99 // an earlier incarnation of ours
	take(t, s, 21*ms, other, Challenged)

	stale := hello(7, 200*ms)
	stale.Echo.Latest = at(201*ms - s.cfg.Timing.Expires - 1)
	take(t, s, 201*ms, stale, Challenged)

	early := hello(7, 202*ms)
	early.Echo.Latest = at(300 * ms) // a stamp that we have not sent yet
	take(t, s, 203*ms, early, Challenged)

	fresh := hello(7, 210*ms)
	fresh.Echo.Latest = at(211*ms - s.cfg.Timing.Expires)
	take(t, s, 211*ms, fresh, Accepted)
	take(t, s, 212*ms, hello(7, 211*ms), Delivered)
	take(t, s, 213*ms, silent(7, 212*ms), Delivered)
	require.Equal(t, timed.BootID(7), s.Boot(2))
}

func TestAnIncarnationStaysAcceptedWhileItIsHeardFast(t *testing.T) {
	s := newService(1, 2)
	expires := s.cfg.Timing.Expires
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	take(t, s, 12*ms, hello(8, 11*ms), Challenged)
	require.Equal(t, timed.BootID(7), echo(s, at(12*ms), 2).Boot, "the accepted incarnation is echoed")
	require.Equal(t, timed.BootID(8), challenged(s, 2).Boot)
	require.Equal(t, NotHeard, challenged(s, 2).Heard)
	incumbent, age := s.Incumbent(at(12*ms), 2)
	require.Equal(t, []any{timed.BootID(7), ms}, []any{incumbent, age})

	last := 11*ms + expires
	take(t, s, last, hello(8, last-ms), Challenged)
	incumbent, age = s.Incumbent(at(last+1), 2)
	require.Zero(t, incumbent)
	require.Zero(t, age)
	require.Equal(t, timed.BootID(8), echo(s, at(last+1), 2).Boot, "the challenger is echoed once the accepted one is silent")
	take(t, s, last+1, hello(8, last-ms+1), Accepted)
	require.Equal(t, timed.BootID(8), s.Boot(2))
	take(t, s, last+2*ms, hello(7, last+ms), Challenged)
}

func TestASlowIncarnationIsReplaced(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	for sent := 20 * ms; sent < 200*ms; sent += 10 * ms {
		d := take(t, s, sent+15*ms, hello(7, sent), Delivered)
		require.False(t, d.Fast)
	}
	take(t, s, 220*ms, hello(8, 219*ms), Accepted)
}

func TestNothingOfAnEarlierIncarnationSurvives(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	require.True(t, s.Alive(at(11*ms)).Has(2))
	late := hello(8, 300*ms)
	late.Echo.Sent, late.Echo.Received = at(200*ms), at(201*ms)
	d := take(t, s, 301*ms, late, Accepted)
	require.InDelta(t, float64(2*ms), float64(d.Bound), float64(50*time.Microsecond), "the bound uses its own helper")
	require.Equal(t, Pair{at(300 * ms), at(301 * ms)}, s.peers[2].current.best)
}

func TestUnknownSourcesAndOurOwnAreDropped(t *testing.T) {
	s := newService(1, 2)
	h := hello(7, 10*ms)
	h.Source = 3
	take(t, s, 11*ms, h, Dropped)
	h.Source = 1
	take(t, s, 11*ms, h, Dropped)
	take(t, s, 11*ms, hello(0, 10*ms), Dropped)
	s.AddPeer(zero, 1)
	s.AddPeer(zero, 0)
	require.Equal(t, timed.SetOf(2), s.Peers())
	s.RemovePeer(2)
	take(t, s, 11*ms, hello(7, 10*ms), Dropped)
}

// "Hearing, and being heard".

func TestAPeerIsAliveUntilExpiresMinusHeardAge(t *testing.T) {
	s := newService(1, 2)
	expires, rho := s.cfg.Timing.Expires, s.cfg.Timing.MaxDrift
	h := hello(7, 50*ms)
	h.Echo.Heard = at(20 * ms)
	take(t, s, 51*ms, h, Accepted)
	until := at(51*ms + expires - rho.Wait(30*ms))
	s.NoteSent(until, 2)
	require.Empty(t, s.KeepalivesDue(at(51*ms), false))
	require.Equal(t, until, s.Deadline())
	require.True(t, s.Alive(until-1).Has(2))
	require.False(t, s.Alive(until).Has(2))
}

func TestAPeerThatDoesNotHearUsIsNotAlive(t *testing.T) {
	for name, change := range map[string]func(*Header){
		"never heard":               func(h *Header) { h.Echo.Heard = NotHeard },
		"heard too long ago":        func(h *Header) { h.Echo.Heard = h.Stamp.Add(-100 * ms) },
		"heard another incarnation": func(h *Header) { h.Echo.Boot = 99 },
		"heard nobody":              func(h *Header) { h.Echo = Echo{Heard: NotHeard} },
	} {
		s := newService(1, 2)
		take(t, s, 251*ms, hello(7, 250*ms), Accepted)
		require.True(t, s.Alive(at(251*ms)).Has(2), name)
		h := hello(7, 252*ms)
		change(h)
		d := take(t, s, 253*ms, h, Delivered)
		require.True(t, d.Fast, name)
		require.False(t, s.Alive(at(253*ms)).Has(2), name)
		take(t, s, 255*ms, hello(7, 254*ms), Delivered)
		require.True(t, s.Alive(at(255*ms)).Has(2), name)
	}
}

func TestAnOvertakenPacketSaysNothingAboutHearing(t *testing.T) { overtakenHearing(t) }

func overtakenHearing(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 21*ms, hello(7, 20*ms), Accepted)
	deaf := hello(7, 19*ms)
	deaf.Echo.Heard = NotHeard
	take(t, s, 22*ms, deaf, Delivered)
	require.True(t, s.Alive(at(22*ms)).Has(2))
}

func TestSlowPacketsKeepNobodyAlive(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	until := s.peers[2].aliveUntil
	d := take(t, s, 60*ms, hello(7, 40*ms), Delivered)
	require.False(t, d.Fast)
	require.Equal(t, until, s.peers[2].aliveUntil)
	require.Equal(t, d, s.LastDelay(2))
	age, ok := s.LastFast(at(61*ms), 2)
	require.True(t, ok)
	require.Equal(t, 50*ms, age)
	slow := newService(1, 2)
	take(t, slow, 60*ms, hello(7, 10*ms), Accepted)
	_, ok = slow.LastFast(at(61*ms), 2)
	require.False(t, ok, "there was none")
}

func TestANodeThatIsNotReadyHearsNobody(t *testing.T) {
	s := New(Config{Self: timed.Incarnation{Node: 1, Boot: 100}, Timing: timed.LAN()}, zero)
	s.AddPeer(zero, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	require.Equal(t, NotHeard, echo(s, at(12*ms), 2).Heard)
	s.SetReady()
	require.Equal(t, at(11*ms), echo(s, at(12*ms), 2).Heard)
}

// Keepalives.

func TestKeepalivesAreDueAPeriodAfterTheLastPacket(t *testing.T) {
	s := newService(1, 2, 3)
	kp := s.cfg.Timing.KeepalivePeriod
	require.Equal(t, timed.SetOf(2, 3), s.KeepalivesDue(zero, false), "to all, at once")
	s.NoteSent(at(0), 2)
	s.NoteSent(at(10*ms), 3)
	require.Empty(t, s.KeepalivesDue(at(kp-1), false))
	require.Equal(t, timed.SetOf(2), s.KeepalivesDue(at(kp), false))
	s.NoteSent(at(kp), 2)
	require.Equal(t, at(10*ms+kp), s.Deadline())
	require.Equal(t, timed.SetOf(3), s.KeepalivesDue(at(10*ms+kp), false))
	s.NoteSent(at(10*ms+kp), 3)
	require.Equal(t, timed.SetOf(2, 3), s.KeepalivesDue(at(10*ms+kp+kp/2), true), "a node that sends anyway also sends the keepalives that are half due")
	require.Equal(t, timed.SetOf(2), s.KeepalivesDue(at(kp+kp/2), true))

	s.AddPeer(at(100*ms), 4)
	require.True(t, s.KeepalivesDue(at(100*ms), false).Has(4), "a new peer is greeted at once")
	s.RemovePeer(4)
	require.False(t, s.KeepalivesDue(at(200*ms), false).Has(4))
}

// A new peer is greeted at once, although no other keepalive is due.
func greetsAtOnce(t testing.TB) {
	s := newService(1, 2, 3)
	require.Equal(t, timed.SetOf(2, 3), s.KeepalivesDue(zero, false))
	s.NoteSent(zero, 2)
	s.NoteSent(zero, 3)
	now := at(ms)
	require.Empty(t, s.KeepalivesDue(now, false))
	s.AddPeer(now, 4)
	require.LessOrEqual(t, s.Deadline(), now)
	require.Equal(t, timed.SetOf(4), s.KeepalivesDue(now, false))
}

func TestANewPeerIsGreetedAtOnce(t *testing.T) { greetsAtOnce(t) }

// Clock faults.

func TestABoundBelowTheLeastDelayIsAFault(t *testing.T) { impossibleBound(t) }

func impossibleBound(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	h := hello(7, 500*ms) // its clock ran ahead: the packet cannot have left yet
	h.Echo = Echo{Heard: NotHeard}
	d := take(t, s, 20*ms, h, Faulty)
	require.False(t, d.Fast)
	require.True(t, s.Fault(2))
	require.False(t, s.Alive(at(20*ms)).Has(2))
	_, _, ok := s.Offset(at(21*ms), 2)
	require.False(t, ok)
	take(t, s, 22*ms, hello(7, 21*ms), Dropped)
	require.Equal(t, Distrusted, echo(s, at(23*ms), 2).Heard)
	faulty, heard := s.Faults(at(22 * ms))
	require.Equal(t, [2]int{1, 1}, [2]int{faulty, heard})
	take(t, s, 31*ms, hello(8, 30*ms), Accepted)
	require.False(t, s.Fault(2))
}

// Coarse clocks can make a bound a little less than the least delay. It is that delay then.
func TestNoBoundIsBelowTheLeastDelay(t *testing.T) { coarseBound(t) }

func coarseBound(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	d := take(t, s, 21*ms, hello(7, 20*ms), Delivered)
	least := &s.cfg.Timing.MinDelay
	*least = (d.Bound+*least)/2 + timed.Granule // the bound is the rest
	d = take(t, s, 31*ms, hello(7, 30*ms), Delivered)
	require.Equal(t, *least, d.Bound)
}

// The echo for a challenger names its newest packet. An overtaken one says nothing new.
func TestAChallengerIsToldOfItsNewestPacket(t *testing.T) { overtakenChallenge(t) }

func overtakenChallenge(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, silent(7, 10*ms), Challenged)
	take(t, s, 12*ms, silent(7, 9*ms), Challenged)
	require.Equal(t, at(10*ms), challenged(s, 2).Latest)
	require.Equal(t, at(10*ms), echo(s, at(12*ms), 2).Latest)
	take(t, s, 13*ms, hello(7, 8*ms), Accepted)
	require.Equal(t, at(10*ms), s.Newest(2))
}
