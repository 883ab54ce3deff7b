package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// What others pass on counts for the incarnation that it is about, and for no other one that
// has its id, whatever of it is known already.
func wordOfAnyBoot(t testing.TB) {
	for _, boot := range []timed.BootID{0, 19, 21} {
		s, peer, now := heardOnce()
		before := *s.peers[2]
		s.NoteHeardIndirectly(now.Add(20*ms), timed.Incarnation{Node: 2, Boot: boot})
		require.Equal(t, before, *s.peers[2], "incarnation %d", boot)
		s.NoteHeardIndirectly(now.Add(20*ms), peer)
		require.NotEqual(t, before, *s.peers[2])
	}
}

func TestTheWordIsAboutAnIncarnation(t *testing.T) { wordOfAnyBoot(t) }

// A peer says that it distrusts the clocks with each packet of its separation. Its words
// that are still under way, or that the echo of them causes, begin no second separation.
func distrustIsHeardOnce(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	now := 20 * ms
	distrusts := func(want Kind) {
		h := hello(7, now)
		h.Echo.Heard = Distrusted
		take(t, s, now+ms, h, want)
		now += 2 * ms
	}
	distrusts(Faulty)
	distrusts(Dropped) // it prolongs nothing, either
	first := s.separation(1)
	for now < first-ms {
		distrusts(Dropped)
		now += first / 8
	}
	now = 21*ms + first
	distrusts(Delivered)
	now = 21*ms + 2*first - 2*ms
	distrusts(Delivered)
	now = 21*ms + 2*first
	distrusts(Faulty)
}

func TestOneVerdictOfAPeerSeparatesOnce(t *testing.T) { distrustIsHeardOnce(t) }

// A peer that distrusts the clocks again, soon after a separation, is not alive, although its
// word begins no second separation.
func TestAPeerThatDistrustsIsNotAlive(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	distrusts := func(now time.Duration, want Kind) {
		h := hello(7, now-ms)
		h.Echo.Heard = Distrusted
		take(t, s, now, h, want)
		require.False(t, s.Alive(at(now)).Has(2))
	}
	distrusts(20*ms, Faulty)
	now := 30*ms + s.separation(1)
	for range 2 {
		take(t, s, now, hello(7, now-ms), Delivered)
		now += 2 * ms
	}
	require.True(t, s.Alive(at(now)).Has(2))
	distrusts(now, Delivered)
}

// Two packets with one counter say nothing about clocks: the peer is not told that its clock
// is distrusted, and what was measured before the conflict is only forgotten here.
func twinsAreTrusted(t testing.TB) {
	s := newService(1, 2)
	for i, want := range []Kind{Accepted, Twin} {
		h := hello(7, time.Duration(10+i)*ms)
		h.Counter = 5
		take(t, s, time.Duration(11+i)*ms, h, want)
	}
	require.Equal(t, Echo{Heard: NotHeard}, echo(s, at(13*ms), 2), "all pairs are forgotten, and the echo has none")
	take(t, s, 14*ms, hello(7, 13*ms), Dropped)
	require.NotEqual(t, Distrusted, echo(s, at(15*ms), 2).Heard)
	require.Equal(t, timed.BootID(7), echo(s, at(15*ms), 2).Boot)
}

func TestAConflictOfCountersBlamesNoClock(t *testing.T) { twinsAreTrusted(t) }

// What was measured with a challenger counts as soon as it is accepted, and nothing of it is
// left for the next challenger.
func challengerCounts(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 9*ms, silent(7, 8*ms), Challenged)
	take(t, s, 14*ms, hello(7, 10*ms), Accepted)
	_, _, ok := s.Offset(at(15*ms), 2)
	require.True(t, ok)
	require.Less(t, s.SentBefore(at(14*ms), 2, at(10*ms)), at(12*ms), "by the packet of the challenger, which was faster")
	require.Equal(t, Echo{Heard: NotHeard}, challenged(s, 2), "there is no challenger")
}

func TestWhatAChallengerShowedCounts(t *testing.T) { challengerCounts(t) }

// A packet that comes late was received earlier than what came since: it sets back nothing.
func newestStays(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	take(t, s, 31*ms, hello(7, 30*ms), Delivered)
	take(t, s, 29*ms, hello(7, 28*ms), Delivered) // of the same batch, and handled last
	age, ok := s.LastFast(at(40*ms), 2)
	require.True(t, ok)
	require.Equal(t, 9*ms, age)
	require.Equal(t, at(30*ms), s.Newest(2))
	require.Equal(t, at(31*ms), echo(s, at(40*ms), 2).Heard)
}

func TestAnOlderPacketSetsNothingBack(t *testing.T) { newestStays(t) }

// A packet left before it came, however little is known of its sender's clock.
func sentBeforeReceipt(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	take(t, s, 511*ms, hello(7, 510*ms), Delivered)
	for _, sent := range []time.Duration{10 * ms, 11 * ms, 510 * ms, 512 * ms, time.Second} {
		require.LessOrEqual(t, s.SentBefore(at(sent+time.Microsecond), 2, at(sent)), at(sent+time.Microsecond), "%v", sent)
	}
}

func TestAPacketLeftBeforeItCame(t *testing.T) { sentBeforeReceipt(t) }

// While no packet comes fast, the echo goes to the incarnation that was heard last: a late
// packet of a dead one does not divert it.
func echoOfTheLiving(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	later := 12*ms + s.cfg.Timing.Expires
	take(t, s, later, silent(8, later-ms), Challenged)
	require.Equal(t, timed.BootID(8), echo(s, at(later), 2).Boot)
	d := take(t, s, later+40*ms, silent(7, later), Delivered)
	require.False(t, d.Fast)
	require.Equal(t, timed.BootID(7), echo(s, at(later+40*ms), 2).Boot)
	take(t, s, later+41*ms, silent(8, later+40*ms), Challenged)
	require.Equal(t, timed.BootID(8), echo(s, at(later+41*ms), 2).Boot)
}

func TestTheEchoGoesToTheLiving(t *testing.T) { echoOfTheLiving(t) }

// Nothing that was measured with one challenger counts for the next, whose clock is another one.
func challengersApart(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 9*ms, silent(7, 500*ms), Challenged) // by its clock, which is ahead, no later pair is better
	take(t, s, 12*ms, silent(8, 10*ms), Challenged)
	require.Equal(t, Echo{Boot: 8, Sent: at(10 * ms), Received: at(12 * ms), Latest: at(10 * ms), Heard: NotHeard}, echo(s, at(13*ms), 2))
}

func TestChallengersAreMeasuredApart(t *testing.T) { challengersApart(t) }
