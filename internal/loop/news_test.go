package loop

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Each incarnation of a peer that leaves is told of, once.
func leavesOnce(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	for _, boot := range []timed.BootID{5, 5, 6, 6} {
		d.note(&stack.Event{Kind: stack.EventPeerLeaving, Peer: 7, Boot: boot, ForGood: boot == 6})
	}
	d.flush()
	require.Equal(t, 2, l.cfg.Sink.(*recorder).count(stack.EventPeerLeaving))
	require.EqualValues(t, 6, d.routes.gone[7])
}

func TestEachIncarnationThatLeavesIsToldOfOnce(t *testing.T) { leavesOnce(t) }

// A lead that was lost and won again in one turn is over, with its own reason, even if
// nothing else has changed.
func leadsEndWithTheirReasons(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	before := l.Snapshot()
	require.True(t, before.Leading)
	d.publish()
	require.Same(t, before, l.Snapshot(), "nothing has changed")
	d.pub.lost = &Lost{Reason: leader.Resigned}
	d.publish()
	after := l.Snapshot()
	require.NotSame(t, before.Phase, after.Phase)
	require.Nil(t, d.pub.lost, "the next end has another reason")
	<-before.Phase.Over
	require.Equal(t, leader.Resigned, before.Phase.Lost().Reason)

	d.pub.lost, d.pub.lostGlobal = &Lost{By: 2}, &Lost{By: 3}
	forced := *after
	forced.GlobalPhase = &Phase{Leads: true, Over: make(chan struct{})}
	d.pub.current = &forced
	d.publish()
	<-forced.GlobalPhase.Over
	require.EqualValues(t, 3, forced.GlobalPhase.Lost().By)
	require.EqualValues(t, 2, forced.Phase.Lost().By)
}

func TestLeadsEndWithTheirReasons(t *testing.T) { leadsEndWithTheirReasons(t) }

// Another incarnation of the leader is another leader.
func followsIncarnations(t testing.TB) {
	p := publication{}
	follow := func(boot timed.BootID) *Phase {
		s := &Snapshot{Snapshot: stack.Snapshot{Self: timed.Incarnation{Node: 1, Boot: 1}, Following: timed.Incarnation{Node: 2, Boot: boot}}}
		s.Phase, s.GlobalPhase = p.phaseOf(s, 50), p.globalPhaseOf(s, 50)
		p.current = s
		return s.Phase
	}
	first := follow(5)
	require.Same(t, first, follow(5))
	require.NotSame(t, first, follow(6))
}

func TestAnotherIncarnationOfTheLeaderIsAnotherPhase(t *testing.T) { followsIncarnations(t) }

// What a distrusted clock has shown holds back no other incarnation.
func shownByAnIncarnation(t testing.TB) {
	l, _ := newTestLoop(t)
	before := l.Snapshot()
	l.do(func(d *driver) { d.restart(life.Overrun, d.clock.now, d.clock.era) })
	l.driver.turn(nil, l.cfg.Clock.Read())
	after := l.Snapshot()
	require.Equal(t, before.Clock.Timeline(), after.Clock.Timeline())
	require.NotSame(t, before.Shown, after.Shown)
}

func TestWhatAnIncarnationHasShownEndsWithIt(t *testing.T) { shownByAnIncarnation(t) }

// Counts include those of ended incarnations.
func countsOutlive(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	d.stack.Dropped.Unknown += 3
	d.stack.Dropped.Impossible += 2
	before := d.counters()
	d.restart(life.Overrun, d.clock.now, d.clock.era)
	d.begin()
	after := d.counters()
	for i := range before {
		require.GreaterOrEqual(t, after[i].Value, before[i].Value, before[i].Name)
	}
}

func TestCountsOutliveIncarnations(t *testing.T) { countsOutlive(t) }

// What an incarnation leaves for its application is given once, and what nobody wanted of
// it is not taken from the next one.
func remainsOnce(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	payload := []byte("not delivered")
	d.msgs.keepRemains(&broadcast.Effect{Deliveries: []broadcast.Delivery{{Payload: payload}}})
	copy(payload, "used again...")
	d.msgs.dropped = deliveryqueue.Taken{Bytes: 5, Count: 1}
	for range 2 {
		d.restart(life.Overrun, d.clock.now, d.clock.era)
		require.Zero(t, d.msgs.dropped)
	}
	var remains []broadcast.Delivery
	for items, _, _ := l.Deliveries().Borrow(10); len(items) > 0; items, _, _ = l.Deliveries().Borrow(10) {
		for i := range items {
			if items[i].Kind == deliveryqueue.NewIncarnation {
				remains = append(remains, items[i].Change.Remains...)
			}
		}
	}
	require.Len(t, remains, 1)
	require.Equal(t, "not delivered", string(remains[0].Payload))
}

func TestRemainsAreGivenOnce(t *testing.T) { remainsOnce(t) }

// A message of an earlier incarnation is not that for whose outcome a caller waits, and one is
// enough that waits in either class.
func outcomesOfItself(t testing.TB) {
	for _, order := range []broadcast.Order{broadcast.TotalOrder, broadcast.Unordered} {
		l, _ := newTestLoop(t)
		d := l.driver
		d.mu.Lock() // no caller takes a turn
		_, err := l.Sends().Send(t.Context(), sendqueue.Application, []byte("mine"), broadcast.Options{Order: order}, l.Sends().NewWaiter().Queued, true)
		d.mu.Unlock()
		require.NoError(t, err)
		d.supply()
		self := d.cfg.Self
		for _, by := range []timed.Incarnation{{Node: self.Node, Boot: self.Boot + 1}, {Node: 2, Boot: self.Boot}, self} {
			require.Empty(t, d.msgs.outcomes)
			id := broadcast.ID{Sender: by.Node, Boot: by.Boot, Class: order.Class(), Sequence: 1}
			d.msgs.noteOutcomes(&broadcast.Effect{Deliveries: []broadcast.Delivery{{ID: id}}}, self)
		}
		require.Len(t, d.msgs.outcomes, 1, "%v", order)
	}
}

func TestOutcomesAreOfTheIncarnation(t *testing.T) { outcomesOfItself(t) }

// A node that leaves takes no more messages.
func leavingTakesNothing(t testing.TB) {
	l, _ := newTestLoop(t)
	l.driver.leave(false)
	_, err := l.Sends().Send(t.Context(), sendqueue.Application, []byte("late"), broadcast.Options{}, nil, true)
	require.Error(t, err)
}

func TestALeavingNodeTakesNoMessages(t *testing.T) { leavingTakesNothing(t) }

// listsAndPeers tests what a new list and the packets of peers do to routes.
func listsAndPeers(t testing.TB) {
	r := routes{self: 1, limit: 10}
	r.take(&peers.List{listed(2, 20)}, timed.Set{}, 0)
	r.learn(5, at(50), true, 1)
	_, removed := r.take(&peers.List{}, timed.Set{}, 2)
	require.Equal(t, timed.SetOf(2), removed, "learnt peers stay")
	require.Equal(t, timed.SetOf(5), r.known)

	r.gone[6] = 7
	added, _ := r.take(&peers.List{listed(6, 60)}, timed.Set{}, 3)
	require.Equal(t, timed.Set{}, added, "it has left for good")

	r.learn(255, at(55), true, 4)
	require.EqualValues(t, 254, r.unused(), "nobody is known to have it")

	self := listed(timed.NoNode, 10)
	self.Learn(1)
	require.False(t, r.searching(self, timed.Set{}), "a node does not search itself")

	h := datagram.Header{Source: 5, Boot: 3}
	r.follow(&h, at(50), true, datagram.Challenged, 10, 1)
	require.EqualValues(t, 1, r.to[5].heard, "a process that is not accepted keeps nobody")
	r.follow(&h, at(50), true, datagram.Accepted, 11, 1)
	require.EqualValues(t, 11, r.to[5].heard)
}

func TestListsAndPeers(t *testing.T) { listsAndPeers(t) }

// A peer that has left for good needs answers while it is alive.
func goneIsAnswered(t testing.TB) {
	l, _ := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	d.routes.gone[7] = 77
	alive := *d.pub.current
	alive.Alive = timed.SetOf(7)
	d.pub.current = &alive
	d.forgetGone()
	require.True(t, d.routes.known.Has(7))
	alive.Alive = timed.Set{}
	d.forgetGone()
	require.False(t, d.routes.known.Has(7))
}

func TestAPeerThatLeavesForGoodIsAnswered(t *testing.T) { goneIsAnswered(t) }

// packetFrom returns a packet that came from an address.
func packetFrom(b []byte, from netip.AddrPort, now timed.Instant) *udp.Packet {
	return &udp.Packet{Buf: b, N: len(b), Addr: from, Received: now}
}

// A node's own greeting, which reaches it by another of its addresses, is no rival's.
func ownGreetings(t testing.TB) {
	l, o := newOutside(nil)
	d := l.driver
	p := hello(&d.cfg, wire.Version, 9, o.instant())
	b := encoded(t, nil, 1, &p)
	require.Equal(t, refusedOther, d.handle(packetFrom(b, at(10), o.instant()), true))
	p.Header.Boot++
	b = encoded(t, nil, 2, &p)
	require.Equal(t, refusedOwnID, d.handle(packetFrom(b, at(10), o.instant()), true))
}

func TestAnOwnGreetingIsNoRivals(t *testing.T) { ownGreetings(t) }

// Settings that differed do not outlive the acceptance of their node.
func mendedSettings(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	o.run(l, 1)
	d.mismatches = mismatches{7: {}}
	o.takes(t, l, nil, at(70), 1, nothing)
	require.Len(t, d.mismatches, 1, "it may be another process")
	seen := header(t, o.last[at(70)])
	o.takes(t, l, nil, at(70), 2, datagram.Echo{Boot: d.cfg.Self.Boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard})
	require.Empty(t, d.mismatches)
}

func TestMendedSettingsAreForgotten(t *testing.T) { mendedSettings(t) }

// The answer to a challenge of an earlier incarnation proves nothing: its clock is not the
// same.
func echoesOfTheIncarnation(t testing.TB) {
	r := routes{self: 1, limit: 10}
	r.learn(5, at(50), false, 1)
	h := datagram.Header{Source: 5, Boot: 3}
	pkt := packetFrom(nil, at(51), 10)
	require.False(t, r.prove(&h, pkt, 9, 10))
	r.book.NoteChallenge(5, at(51), 7)
	for _, boot := range []timed.BootID{8, 9} {
		h.Echo = datagram.Echo{Boot: boot, Sent: 7, Latest: 7}
		require.Equal(t, boot == 9, r.prove(&h, pkt, 9, 11), boot)
	}
}

func TestEchoesOfAnotherIncarnationProveNothing(t *testing.T) { echoesOfTheIncarnation(t) }

// A node that leaves says whether it comes back, and stays until its holds are over.
func leavesWhenNothingBinds(t testing.TB) {
	for i := range 4 {
		forGood, leads := i < 2, i%2 == 0
		l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
		for leads && !l.Snapshot().Leading {
			step(l, o.fakeConn)
		}
		d := l.driver
		hold := &Hold{}
		if leads {
			hold = d.hold(false)
		}
		l.Leave(forGood)
		d.turn(nil, l.cfg.Clock.Read())
		var p wire.Packet
		require.NoError(t, new(wire.Decoder).Decode(o.last[at(70)], &p))
		require.True(t, p.Has(wire.FrameLeaving))
		require.Equal(t, forGood, p.Forget)
		for !d.life.Over() {
			step(l, o.fakeConn)
		}
		require.GreaterOrEqual(t, o.instant(), hold.Until)
	}
}

func TestANodeLeavesWhenNothingBindsIt(t *testing.T) { leavesWhenNothingBinds(t) }

// Who waits for the end of a phase finds the next one: it may look at once, while others are
// still being woken.
func TestAPhaseIsOverOnceTheNextIsPublished(t *testing.T) {
	l, _ := newTestLoop(t)
	for range 50 {
		s := l.Snapshot()
		for range 1000 { // they make the end of the phase take a while
			go func() { <-s.Phase.Over }()
		}
		old := make(chan bool)
		go func() {
			for !isOver(s.Phase) {
			}
			old <- l.Snapshot() == s
		}()
		time.Sleep(time.Millisecond) // all wait by now
		l.driver.note(&stack.Event{Kind: stack.EventLeadLost})
		l.driver.publish()
		require.False(t, <-old)
	}
}

func isOver(p *Phase) bool {
	select {
	case <-p.Over:
		return true
	default:
		return false
	}
}
