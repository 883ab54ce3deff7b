package loop

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/claim"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// newClaiming returns a loop that claims its id, and the world around it.
func newClaiming(c *Claim) (*Loop, *outside) {
	l, o := newOutside(nil)
	l, o.fakeConn = newLoop(func(cfg *Config) {
		o.fakeConn = cfg.Conn.(*fakeConn)
		cfg.Conn, cfg.Claim, cfg.Peers = o, c, l.cfg.Peers
	})
	step(l, o.fakeConn)
	return l, o
}

// An id is written down before the node is ready, and without that it never is.
func claimsKeepFirst(t testing.TB) {
	kept := 0
	var l *Loop
	l, o := newClaiming(&Claim{Keep: func() error {
		require.False(t, l.Snapshot().Ready)
		kept++
		return nil
	}, Kept: func() { kept += 10 }})
	began := o.instant()
	for range 1000 {
		if l.Snapshot().Ready {
			break
		}
		step(l, o.fakeConn)
	}
	require.True(t, l.Snapshot().Ready)
	require.GreaterOrEqual(t, o.instant().Sub(began), 999*time.Millisecond)
	require.Equal(t, 11, kept)

	broken := errors.New("no space")
	l, o = newClaiming(&Claim{Keep: func() error { return broken }, Kept: func() { kept++ }})
	for range 1000 {
		if l.driver.life.Over() {
			break
		}
		step(l, o.fakeConn)
	}
	require.ErrorIs(t, l.driver.failure, broken)
	require.False(t, l.driver.life.MaySpeak(), "it would speak of an id that the next process does not know")
	require.False(t, l.Snapshot().Ready)
	require.False(t, l.driver.claims.kept)
	require.Equal(t, 11, kept)
}

func TestIdsAreKeptBeforeTheyCount(t *testing.T) { claimsKeepFirst(t) }

// rival hands the loop a packet of another process with its id.
func (o *outside) rival(t testing.TB, l *Loop, boot timed.BootID, counter uint64, e datagram.Echo) {
	d := l.driver
	p := wire.Packet{Header: datagram.Header{Version: wire.Version, Group: d.cfg.Group, Source: 1, Destination: 200, Boot: boot,
		Stamp: timed.Instant(l.cfg.Clock.Now()), Echo: e}, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
	b, err := new(wire.Encoder).AppendBefore(nil, &p, nil)
	require.NoError(t, err)
	wire.Finish(b, wire.TailSum(nil), p.Header.Stamp, counter)
	d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: at(70), Received: o.instant()}}, l.cfg.Clock.Read())
}

// A node that claims an id gives it up when another process has it. One that has kept it
// tells the other, with no more than came, and gives way only to a living one, while it is
// alone: sooner if it has the larger boot id.
func rivals(t testing.TB) {
	l, o := newClaiming(&Claim{Keep: func() error { return nil }, Kept: func() {}})
	o.rival(t, l, 99, 1, nothing)
	require.ErrorAs(t, l.driver.failure, new(*RefusedError))
	require.Zero(t, l.driver.rivalry.answered, "it has no answer: the id is the other's")

	for _, smaller := range []bool{true, false} {
		l, o = newClaiming(&Claim{Held: true})
		o.run(l, time.Second)
		require.True(t, l.Snapshot().Ready)
		l.driver.cfg.Self.Boot = 50
		boot := timed.BootID(60)
		if smaller {
			boot = 40
		}
		before := o.bytes[at(70)]
		o.rival(t, l, boot, 1, nothing)
		o.rival(t, l, boot, 2, nothing)
		require.Greater(t, o.bytes[at(70)], before, "it is answered")
		require.Less(t, o.bytes[at(70)], before+250)
		answer := header(t, o.last[at(70)])
		require.Equal(t, boot, answer.Echo.Boot, "which shows that the answer is no late packet")
		expires, counter := l.driver.cfg.Timing.Expires, uint64(3)
		for range 16 {
			late := timed.Instant(l.cfg.Clock.Now()).Add(-2 * expires)
			o.rival(t, l, boot, counter, datagram.Echo{Boot: 50, Sent: late, Received: late, Latest: late, Heard: datagram.NotHeard})
			now := timed.Instant(l.cfg.Clock.Now())
			o.rival(t, l, boot, counter+1, datagram.Echo{Boot: 49, Sent: now, Received: now, Latest: now, Heard: datagram.NotHeard})
			require.NoError(t, l.driver.failure, "a late packet says nothing, nor does one of a process that has heard another one")
			o.advance(expires / 2)
			counter += 2
		}
		lives := func() {
			now := timed.Instant(l.cfg.Clock.Now())
			o.rival(t, l, boot, counter, datagram.Echo{Boot: 50, Sent: now, Received: now, Latest: now, Heard: datagram.NotHeard})
			counter++
		}
		lives()
		l.driver.pub.current.Alive = timed.SetOf(3)
		lives()
		l.driver.pub.current.Alive = timed.Set{}
		began := l.cfg.Clock.Now()
		for l.driver.failure == nil && time.Duration(l.cfg.Clock.Now()-began) < 100*expires {
			lives()
			o.advance(expires / 8)
		}
		var e *DuplicateIDError
		require.ErrorAs(t, l.driver.failure, &e)
		require.Equal(t, at(70), e.Addr, "it is known where the other is")
		waited := time.Duration(l.cfg.Clock.Now() - began)
		require.Equal(t, smaller, waited < 30*expires, "%v", waited)
		require.GreaterOrEqual(t, waited, 20*expires, "it has had company: its peers may be late")
		require.Equal(t, 1, l.cfg.Sink.(*recorder).count(stack.EventRival))
	}
}

// A node that is alone asks whether its rival lives, as nobody else would.
func rivalsAreAsked(t testing.TB) {
	l, o := newOutside(nil)
	o.run(l, time.Second)
	d := l.driver
	now := o.instant()
	o.rival(t, l, 60, 1, datagram.Echo{Boot: d.cfg.Self.Boot, Sent: now, Received: now, Latest: now, Heard: datagram.NotHeard})
	asked := o.bytes[at(70)]
	d.routes.book.Note(d.clock.now, &admit.Arrival[netip.AddrPort]{From: 1, Addr: at(70), Bytes: 1000})
	o.run(l, d.cfg.Timing.Expires)
	require.Greater(t, o.bytes[at(70)], asked)
	o.run(l, 10*d.cfg.Timing.Expires)
	asked = o.bytes[at(70)]
	d.routes.book.Note(d.clock.now, &admit.Arrival[netip.AddrPort]{From: 1, Addr: at(70), Bytes: 1000})
	o.run(l, d.cfg.Timing.Expires)
	require.Equal(t, asked, o.bytes[at(70)], "it is gone")
}

func TestRivalsAreAskedWhetherTheyLive(t *testing.T) { rivalsAreAsked(t) }

func TestRivals(t *testing.T) { rivals(t) }

// A greeting for nobody from a known id at another address is answered there, since
// nothing else would go there; with no more than came.
func greetingsAreAnswered(t testing.TB) {
	l, o := newOutside(nil)
	o.takes(t, l, nil, at(70), 1, nothing)
	d := l.driver
	greet := func(counter uint64, from netip.AddrPort) int {
		p := wire.Packet{Header: datagram.Header{Version: wire.Version, Group: d.cfg.Group, Source: 7, Destination: 200, Boot: 78,
			Stamp: timed.Instant(l.cfg.Clock.Now()), Echo: nothing}, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
		b, err := new(wire.Encoder).AppendBefore(nil, &p, nil)
		require.NoError(t, err)
		wire.Finish(b, wire.TailSum(nil), p.Header.Stamp, counter)
		d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: from, Received: o.instant()}}, l.cfg.Clock.Read())
		return len(b)
	}
	came := greet(1, at(71))
	came += greet(2, at(71))
	require.EqualValues(t, 2, d.count.foreign)
	require.NotZero(t, o.bytes[at(71)])
	require.LessOrEqual(t, o.bytes[at(71)], came)
	require.EqualValues(t, 7, header(t, o.last[at(71)]).Destination)
	greet(3, at(70))
	require.EqualValues(t, 2, d.count.foreign, "a peer that is looking for this node is none of another group")
}

func TestGreetingsOfKnownNodesAreAnswered(t *testing.T) { greetingsAreAnswered(t) }

// A rival is answered once in a period, however much comes from there.
func rivalsAreAnsweredSeldom(t testing.TB) {
	l, o := newOutside(nil)
	o.run(l, time.Second)
	d := l.driver
	sent, answers := o.bytes[at(70)], 0
	for range 9 {
		d.routes.book.Note(d.clock.now, &admit.Arrival[netip.AddrPort]{From: 1, Addr: at(70), Bytes: 1000})
		d.handleRival(&datagram.Header{Version: wire.Version, Boot: 60, Stamp: o.instant()}, at(70))
		d.flush()
		if o.bytes[at(70)] > sent {
			sent, answers = o.bytes[at(70)], answers+1
		}
	}
	require.Equal(t, 1, answers)
}

func TestRivalsAreAnsweredSeldom(t *testing.T) { rivalsAreAnsweredSeldom(t) }

// A refusal that was long under way says nothing: it may be about an earlier process that
// has ended since. Nor does one that answers another process.
func lateRefusals(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	d.claims.machine = claim.New(&d.cfg.Timing, d.clock.now)
	d.in.packet = wire.Packet{Frames: wire.FrameInUse, Used: timed.SetOf(1),
		Header: datagram.Header{Echo: datagram.Echo{Boot: d.cfg.Self.Boot + 1, Latest: d.clock.now}}}
	d.judgeClaim(datagram.Delivered)
	require.NotEqual(t, claim.Refused, d.claims.machine.HandleTimeout(d.clock.now), "it answers another process")
	for age, refused := range map[time.Duration]bool{0: true, timed.LAN().Expires / 2: true, timed.LAN().Expires/2 + 1: false} {
		l, _ := newTestLoop(t)
		d := l.driver
		d.claims.machine = claim.New(&d.cfg.Timing, d.clock.now)
		d.in.packet = wire.Packet{Frames: wire.FrameInUse, Used: timed.SetOf(1),
			Header: datagram.Header{Echo: datagram.Echo{Boot: d.cfg.Self.Boot, Latest: d.clock.now.Add(-age)}}}
		d.judgeClaim(datagram.Delivered)
		require.Equal(t, refused, d.claims.machine.HandleTimeout(d.clock.now) == claim.Refused, age)
	}
}

func TestLateRefusalsSayNothing(t *testing.T) { lateRefusals(t) }

// The address that a node names when it gives way is of the process that has its id, and of no
// other that has sent something.
func TestTheAddressOfARivalIsItsOwn(t *testing.T) {
	for rival, want := range map[timed.BootID]netip.AddrPort{60: at(70), 61: {}} {
		l, o := newOutside(nil)
		o.run(l, time.Second)
		d := l.driver
		d.handleRival(&datagram.Header{Version: wire.Version, Boot: 60, Stamp: o.instant()}, at(70))
		d.note(&stack.Event{Kind: stack.EventDuplicateID, Boot: rival})
		e, ok := errors.AsType[*DuplicateIDError](d.failure)
		require.True(t, ok)
		require.Equal(t, want, e.Addr)
	}
}
