package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// challengedBy takes a packet of a challenger. proved says that it proves a rival.
func challengedBy(t testing.TB, s *Service, received time.Duration, h *Header, proved bool) {
	t.Helper()
	effects := s.HandlePacket(at(received), h, nil)
	require.Equal(t, Challenged, effects[0].Kind)
	var want []Effect
	if proved {
		want = []Effect{{Kind: Rival, From: timed.Incarnation{Node: 2, Boot: h.Boot}}}
	}
	require.ElementsMatch(t, want, effects[1:])
}

// A challenger is a rival of the accepted incarnation if that sent before it and after it.
func sentBeforeAndAfter(t testing.TB) {
	const x = 30 * ms // above Δ
	require.Greater(t, x, timed.LAN().FastThreshold)
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	challengedBy(t, s, 21*ms, hello(8, 20*ms), false)
	take(t, s, 22*ms, hello(7, 21*ms), Delivered)
	challengedBy(t, s, 23*ms, hello(8, 22*ms), false) // what came at 22 ms may have left before 21
	take(t, s, 22*ms+x, hello(7, 21*ms+x), Delivered)
	challengedBy(t, s, 24*ms+x, hello(8, 23*ms+x), true)
	take(t, s, 25*ms+x, hello(7, 24*ms+x), Delivered)
	challengedBy(t, s, 26*ms+x, hello(8, 25*ms+x), false) // it is told once

	take(t, s, 27*ms+x, hello(7, 26*ms+x), Delivered)
	challengedBy(t, s, 31*ms+x, hello(9, 30*ms+x), false) // another one has sent nothing before
	take(t, s, 32*ms+2*x, hello(7, 31*ms+2*x), Delivered)
	challengedBy(t, s, 33*ms+2*x, hello(9, 32*ms+2*x), true)
}

func TestRivalsSendByTurns(t *testing.T) { sentBeforeAndAfter(t) }

// A restarted node's packets come after all fast ones of its former incarnation, and a former
// incarnation's packets that are late show nothing of when they left.
func restartsAreNoRivals(t testing.TB) {
	const x = 30 * ms
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	challengedBy(t, s, 21*ms, hello(8, 20*ms), false)
	challengedBy(t, s, 22*ms+x, hello(8, 21*ms+x), false)
	require.False(t, take(t, s, 40*ms+x, hello(7, 11*ms), Delivered).Fast)
	challengedBy(t, s, 41*ms+x, hello(8, 40*ms+x), false)

	former := hello(6, 9*ms)
	for _, echoed := range []Echo{former.Echo, {Boot: 99, Latest: at(20 * ms)}, {Heard: NotHeard}} {
		former.Echo = echoed
		s = newService(1, 2)
		take(t, s, 11*ms, hello(7, 10*ms), Accepted)
		challengedBy(t, s, 21*ms, former, false)
		take(t, s, 22*ms+x, hello(7, 21*ms+x), Delivered)
		challengedBy(t, s, 23*ms+x, former, false)
	}
}

func TestARestartedNodeIsNoRival(t *testing.T) { restartsAreNoRivals(t) }

// The clock of this node may run slow while a fast packet of the accepted incarnation is under way.
func rivalWaitsForDrift(t testing.TB) {
	timing := timed.LAN()
	wait := timing.MaxDrift.Wait(timing.FastThreshold)
	for late, proved := range map[time.Duration]bool{0: false, 1: true} {
		s := newService(1, 2)
		take(t, s, 11*ms, hello(7, 10*ms), Accepted)
		challengedBy(t, s, 21*ms, hello(8, 20*ms), false)
		take(t, s, 21*ms+wait+late, hello(7, 20*ms+wait+late), Delivered)
		challengedBy(t, s, 23*ms+wait, hello(8, 22*ms+wait), proved)
	}
}

func TestARivalIsNotToldBeforeAFastPacketMustHaveCome(t *testing.T) { rivalWaitsForDrift(t) }
