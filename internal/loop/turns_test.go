package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// While packets keep coming, timers wait for them, but no longer than a keepalive period.
func TestTimersWaitForPacketsNotForEver(t *testing.T) {
	l, c := newTestLoop(t)
	d := l.driver
	d.turn(nil, l.cfg.Clock.Read())
	require.False(t, d.isDue(false), "they were looked at in that turn")
	now := c.instant()
	d.clock.now = now
	require.Greater(t, d.stack.Deadline(), now)
	for age, want := range map[time.Duration]bool{0: false, d.cfg.Timing.KeepalivePeriod - 1: false, d.cfg.Timing.KeepalivePeriod: true} {
		d.clock.served = now.Add(-age)
		require.Equal(t, want, d.isDue(false), age)
		require.True(t, d.isDue(true))
	}
}

// No answer rests on a clock that shows less than in a turn before, or is not trusted.
func TestTrustInAReading(t *testing.T) {
	trust := NewTrust(10)
	for at, want := range map[timed.Instant]bool{9: false, 10: true, 11: true} {
		r, ok := trust.Read(func() hwclock.Reading { return hwclock.Reading{Now: at} })
		require.Equal(t, want, ok)
		require.Equal(t, at, r.Now)
	}
	trust.Lose()
	_, ok := trust.Read(func() hwclock.Reading { return hwclock.Reading{Now: 11} })
	require.False(t, ok)
}

// turnsAreRemembered has the clock show less than in the latest turn of the loop.
func turnsAreRemembered(t testing.TB) {
	l, c := newTestLoop(t)
	for range 3 {
		c.advance(time.Millisecond)
		l.driver.turn(nil, l.cfg.Clock.Read())
		for early, want := range map[time.Duration]bool{0: true, 1: false, time.Millisecond: false} {
			_, ok := l.Snapshot().Trust.Read(func() hwclock.Reading { return hwclock.Reading{Now: c.instant().Add(-early)} })
			require.Equal(t, want, ok, early)
		}
	}
}

func TestEachTurnIsRemembered(t *testing.T) { turnsAreRemembered(t) }

// A phase ends with the lead, with the leader that the node follows, and with the era of the
// clock.
func TestPhases(t *testing.T) {
	self, other := timed.Incarnation{Node: 1, Boot: 1}, timed.Incarnation{Node: 2, Boot: 2}
	follows := func(who timed.Incarnation, era uint32) *Snapshot {
		return &Snapshot{Snapshot: stack.Snapshot{Self: self, Following: who}, Era: era}
	}
	leads := func(era uint32) *Snapshot {
		return &Snapshot{Snapshot: stack.Snapshot{Self: self, Following: self, Leading: true, Expiration: 100, Global: true, GlobalUntil: 100}, Era: era}
	}
	p := publication{}
	publish := func(s *Snapshot) (phase, global *Phase) {
		s.Phase, s.GlobalPhase = p.phaseOf(s, 50), p.globalPhaseOf(s, 50)
		p.current = s
		return s.Phase, s.GlobalPhase
	}
	first, none := publish(follows(other, 1))
	require.Equal(t, other, first.Leader)
	again, still := publish(follows(other, 2))
	require.Same(t, first, again)
	require.Same(t, none, still)
	candidate, _ := publish(follows(self, 2))
	require.Zero(t, candidate.Leader, "its own vote makes no leader")
	lead, global := publish(leads(2))
	require.True(t, lead.Leads && global.Leads)
	same, sameGlobal := publish(leads(2))
	require.Same(t, lead, same)
	require.Same(t, global, sameGlobal)
	slept, sleptGlobal := publish(leads(3))
	require.NotSame(t, lead, slept)
	require.NotSame(t, global, sleptGlobal)
	p.lost, p.lostGlobal = &Lost{}, &Lost{}
	next, nextGlobal := publish(leads(3))
	require.NotSame(t, slept, next, "it led twice in one turn")
	require.NotSame(t, sleptGlobal, nextGlobal)
}

// The application learns that messages of its own were ordered in another part of the group.
func TestTheApplicationLearnsOfLostMessages(t *testing.T) {
	l, _ := newTestLoop(t)
	d := l.driver
	w := l.Sends().NewWaiter()
	d.mu.Lock() // no caller takes a turn
	_, err := l.Sends().Send(t.Context(), sendqueue.Application, []byte("a word"), broadcast.Options{}, w.Queued, true)
	d.mu.Unlock()
	require.NoError(t, err)
	d.deliver(&broadcast.Effect{Kind: broadcast.Elsewhere, Class: broadcast.ClassOrdered, From: 3, Through: 5, View: d.stack.Membership().View()})
	d.commitMessages()
	var last deliveryqueue.Item
	for items, _, _ := l.Deliveries().Borrow(10); len(items) > 0; items, _, _ = l.Deliveries().Borrow(10) {
		last = items[len(items)-1]
	}
	require.Equal(t, deliveryqueue.Lost, last.Kind)
	require.EqualValues(t, 3, last.Change.From)
	require.EqualValues(t, 5, last.Message.Sequence)
	require.Equal(t, d.cfg.Self.Boot, last.Message.Boot)
	require.Len(t, w.Result, 1)
	require.Equal(t, sendqueue.OrderedElsewhere, (<-w.Result).Lost, "nor does the sender wait for them")
}

// Delays count until the packet came, not until the loop looked at it, and never until later.
func TestPacketsCountFromWhenTheyCame(t *testing.T) { countWhenTheyCame(t) }

func countWhenTheyCame(t testing.TB) {
	var bounds []time.Duration
	for _, waited := range []time.Duration{0, 3 * time.Millisecond, -3 * time.Millisecond} {
		l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
		d := l.driver
		sent := o.instant()
		o.advance(5 * time.Millisecond)
		now := o.instant()
		b := sealedPacket(t, l, nil, 1, datagram.Echo{Boot: d.cfg.Self.Boot, Sent: sent, Received: now, Latest: sent, Heard: datagram.NotHeard})
		d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: at(70), Received: now.Add(-waited)}}, l.cfg.Clock.Read())
		kind, delay := d.stack.LastPacket()
		require.Equal(t, datagram.Accepted, kind)
		bounds = append(bounds, delay.Bound)
	}
	require.InDelta(t, 3*time.Millisecond, bounds[0]-bounds[1], float64(10*time.Microsecond))
	require.Equal(t, bounds[0], bounds[2])
}

// The status has what is known of a peer's clock and of its last fast packet, and how late the
// loop was.
func TestTheStatusHasWhatAPacketShows(t *testing.T) {
	l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	sent := o.instant()
	o.advance(time.Millisecond)
	b := sealedPacket(t, l, nil, 1, datagram.Echo{Boot: d.cfg.Self.Boot, Sent: sent, Received: o.instant(), Latest: sent, Heard: datagram.NotHeard})
	d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: at(70), Received: o.instant()}}, l.cfg.Clock.Read())
	d.clock.until = o.instant()
	o.advance(time.Millisecond)
	d.clock.measure(o.instant(), 0)
	s := d.status()
	require.Equal(t, time.Millisecond, s.Lateness.Max)
	p := s.Peers[0]
	require.GreaterOrEqual(t, p.LastFast, time.Duration(0))
	require.True(t, p.OffsetKnown)
	require.Less(t, p.OffsetLow, p.OffsetHigh)
}

// Packets that count are fast or slow in the status of their sender.
func TestPacketsAreFastOrSlow(t *testing.T) {
	l, _ := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	for n := range 5 {
		l.driver.measure(7, datagram.Delay{Bound: time.Millisecond, Fast: n < 3})
	}
	s := l.driver.peerStatus(7)
	require.Equal(t, [2]uint64{3, 2}, [2]uint64{s.FastPackets, s.SlowPackets})
}
