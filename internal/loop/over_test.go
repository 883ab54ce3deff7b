package loop

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// whatGoesOver tests what an incarnation leaves to the next one.
func whatGoesOver(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	l.Deliveries().Keep()
	sent := 0
	say := func() {
		_, err := l.Sends().Send(t.Context(), sendqueue.Application, make([]byte, 1000), broadcast.Options{}, nil, true)
		require.NoError(t, err)
		sent++
		step(l, c)
	}
	for !d.msgs.deliveries.Behind() {
		say()
	}
	self := d.cfg.Self
	l.do(func(d *driver) { d.restart(life.Overrun, d.clock.now, d.clock.era) })
	step(l, c)
	require.Equal(t, []broadcast.Mark{{Node: self.Node, Boot: self.Boot, Sequence: uint64(sent)}}, d.cfg.Ordered,
		"an application that keeps its state has these messages")
	for range 10 {
		c.advance(time.Minute)
		d.turn(nil, l.cfg.Clock.Read())
		require.Nil(t, d.stack, "the application has much to take before another incarnation begins")
	}
	for items, _, _ := l.Deliveries().Borrow(1000); len(items) > 0; {
		items, _, _ = l.Deliveries().Borrow(1000)
	}
	c.advance(time.Second)
	d.turn(nil, l.cfg.Clock.Read())
	require.NotNil(t, d.stack)
}

func TestTheApplicationFollowsIntoTheNextIncarnation(t *testing.T) { whatGoesOver(t) }

// inconsistentIsSilent has a stack find its state broken in a turn with packets before and
// after that: to a known address, to one that has shown nothing, and to a candidate.
func inconsistentIsSilent(t testing.TB) {
	l, o := newOutside(nil)
	d := l.driver
	o.run(l, 5*time.Second)
	require.True(t, d.pub.current.Leading)
	clear(o.bytes)
	d.introductions.HandleCandidates(d.clock.now, []netip.AddrPort{at(90)})
	l.do(func(d *driver) {
		d.greetAt(2, at(70))
		p := d.greeting(wire.Version, 7)
		d.routes.book.Note(d.clock.now, &admit.Arrival[netip.AddrPort]{From: 7, Addr: at(80), Bytes: 1000})
		d.challenge(&p, at(80), 7)
		d.note(&stack.Event{Kind: stack.EventInconsistent})
	})
	d.turn(nil, l.cfg.Clock.Read())
	require.Nil(t, d.stack)
	require.Empty(t, o.bytes, "they may rest on the same mistake")
	require.Contains(t, l.cfg.Sink.(*recorder).events, stack.EventInconsistent, "the node incriminates itself")
}

func TestPacketsOfABrokenStateStay(t *testing.T) { inconsistentIsSilent(t) }

// silentIsForgotten learns a peer that is then silent for long.
func silentIsForgotten(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	addr := netip.MustParseAddrPort("127.0.0.1:7009")
	h := datagram.Header{Source: 9, Boot: 5}
	added, _ := d.routes.learn(h.Source, addr, true, d.clock.now)
	require.True(t, added)
	d.stack.AddPeer(d.clock.now, h.Source)
	require.True(t, d.stack.Datagram().Peers().Has(9))
	c.advance(forgetAfter(&d.cfg.Timing) + cleanEvery + timed.LAN().Expires)
	d.turn(nil, l.cfg.Clock.Read())
	require.False(t, d.routes.known.Has(9))
	require.False(t, d.stack != nil && d.stack.Datagram().Peers().Has(9), "the stack would greet it for ever")
}

// heardIsKept learns a peer that is heard for longer than a silent one is kept.
func heardIsKept(t testing.TB) {
	l, o := newOutside(nil)
	d, counter := l.driver, uint64(0)
	d.routes.learn(7, at(70), true, d.clock.now)
	d.stack.AddPeer(d.clock.now, 7)
	for end := o.instant().Add(2 * forgetAfter(&d.cfg.Timing)); o.instant() < end; {
		o.advance(time.Second)
		o.run(l, time.Millisecond)
		require.True(t, d.routes.known.Has(7))
		seen := header(t, o.last[at(70)])
		counter++
		o.takes(t, l, nil, at(70), counter, datagram.Echo{Boot: d.cfg.Self.Boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard})
	}
}

// Addresses from which nothing has come for long are forgotten.
func silentAddressesAreForgotten(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	d.routes.book.Note(d.clock.now, &admit.Arrival[netip.AddrPort]{From: 9, Addr: at(90), Bytes: 100})
	require.True(t, d.routes.book.Spend(9, at(90), 1))
	c.advance(forgetAfter(&d.cfg.Timing) + cleanEvery)
	d.turn(nil, l.cfg.Clock.Read())
	require.False(t, d.routes.book.Spend(9, at(90), 1))
}

func TestSilentAddressesAreForgotten(t *testing.T) { silentAddressesAreForgotten(t) }

func TestALearntPeerThatIsHeardIsKept(t *testing.T) { heardIsKept(t) }

func TestASilentLearntPeerIsForgotten(t *testing.T) { silentIsForgotten(t) }
