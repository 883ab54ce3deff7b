package loop

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/claim"
	"github.com/failaware/failaware/internal/introduce"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// wakesForAll requires that the loop runs when the first of all that it waits for is due.
// What it forgets waits for another timer or for a packet, and only comes late.
func wakesForAll(t testing.TB) {
	l, c := newTestLoop(t)
	step(l, c)
	d := l.driver
	now := d.clock.now
	at, late := now+1, now.Add(time.Hour)
	introductions := introduce.New(1, time.Hour, late)
	d.introductions, d.routes.cleanup, d.routes.hello = introductions, late, late
	require.Greater(t, d.deadline(), at, "nothing is due")

	d.routes.cleanup = at
	require.Equal(t, at, d.deadline(), "silent peers are forgotten")
	d.routes.cleanup = late

	d.routes.strangers, d.routes.hello = []*peers.Entry{listed(timed.NoNode, 20)}, at
	require.Equal(t, at, d.deadline(), "strangers are greeted")
	d.routes.strangers, d.routes.hello = nil, late

	d.nextLook = at
	require.Equal(t, at, d.deadline(), "events wait for settings")
	d.nextLook = 0

	d.introductions = introduce.New(1, time.Hour, late)
	d.introductions.SetAlive(at, timed.SetOf(2))
	require.Equal(t, at, d.deadline(), "peers are introduced")
	d.introductions = introductions

	m := claim.New(&d.cfg.Timing, now)
	d.claims.machine = claim.New(&d.cfg.Timing, at.Add(-m.Deadline().Sub(now)))
	require.Equal(t, at, d.deadline(), "a claim is decided")
	d.claims.machine = nil

	d.msgs.more = true
	require.Equal(t, now, d.deadline(), "the rest is sent")
	d.msgs.more = false
	require.Equal(t, d.stack.Deadline(), d.deadline())

	for range 2 { // the second one waits
		d.restart(life.Overrun, now, d.clock.era)
	}
	d.routes.cleanup = late
	require.Greater(t, d.life.BeginAt(false), now)
	require.Equal(t, d.life.BeginAt(false), d.deadline(), "the next incarnation begins")
}

func TestTheLoopWakesForAllThatIsDue(t *testing.T) { wakesForAll(t) }

// newPeersHearAtOnce lets a peer become known in each way, in a turn in which packets keep
// the loop from its timers, and requires that something goes there in the same turn.
func newPeersHearAtOnce(t testing.TB) {
	for name, meet := range map[string]func(l *Loop, hello []byte) []udp.Packet{
		"a new list": func(l *Loop, _ []byte) []udp.Packet {
			l.cfg.Peers.Set([]peers.Peer{{ID: 7, Addr: at(70).String()}})
			return []udp.Packet{{Addr: at(90)}}
		},
		"its packet": func(l *Loop, hello []byte) []udp.Packet {
			return []udp.Packet{{Buf: hello, N: len(hello), Addr: at(70), Received: l.driver.clock.now}}
		},
		"its greeting to all": func(l *Loop, hello []byte) []udp.Packet {
			l.Meet(hello, at(70))
			return []udp.Packet{{Addr: at(90)}}
		},
	} {
		var list []peers.Peer
		if name != "a new list" {
			list = []peers.Peer{{Addr: at(70).String()}}
		}
		l, o := newOutside(nil, list...)
		o.run(l, time.Second)
		d := l.driver
		clear(o.bytes) // of greetings
		d.routes.hello = o.instant().Add(time.Hour)
		d.clock.now, d.clock.served = o.instant(), o.instant()
		require.Less(t, d.clock.now, d.stack.Deadline())
		p := wire.Packet{Header: datagram.Header{Version: wire.Version, Group: d.cfg.Group, Source: 7, Destination: 200, Boot: 77,
			Stamp: o.instant(), Echo: nothing}, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
		pkts := meet(l, encoded(t, nil, 1, &p)) // for nobody: the stack does not answer it
		d.turn(pkts, l.cfg.Clock.Read())
		require.True(t, d.routes.known.Has(7), name)
		require.NotZero(t, o.bytes[at(70)], name)
	}
}

func TestNewPeersHearAtOnce(t *testing.T) { newPeersHearAtOnce(t) }

// allIsSentAtOnce queues more than a turn sends. The rest leaves in the next turns, which
// follow at once.
func allIsSentAtOnce(t testing.TB) {
	l, _ := newTestLoop(t)
	d := l.driver
	d.mu.Lock() // no caller takes a turn
	for range 3 {
		_, err := l.Sends().Send(t.Context(), sendqueue.Application, make([]byte, 1000), broadcast.Options{}, nil, true)
		require.NoError(t, err)
	}
	d.mu.Unlock()
	d.supplyClass(broadcast.ClassOrdered, 1000)
	require.True(t, d.msgs.sends.Refill(broadcast.ClassOrdered, d.stack))
	require.True(t, d.msgs.more)
	d.turn(nil, l.cfg.Clock.Read())
	require.False(t, d.msgs.sends.Refill(broadcast.ClassOrdered, d.stack))
	require.Greater(t, d.deadline(), d.clock.now)

	for members, want := range map[int]int{1: turnBytes, 2: turnBytes, 5: turnBytes / 4, 9: turnBytes / 8, 100: minTurnBytes} {
		require.Equal(t, want, turnOf(&membership.View{Members: make([]membership.Member, members)}), members)
	}
	require.Equal(t, turnBytes, turnOf(nil))
}

func TestAllIsSentAtOnce(t *testing.T) { allIsSentAtOnce(t) }

// timersWaitForTheBatch hands over the first packets of a batch when timers are due: what
// waits behind them came in time and counts before the silence of its sender.
func timersWaitForTheBatch(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()}, peers.Peer{ID: 8, Addr: at(80).String()})
	o.run(l, time.Second)
	d := l.driver
	o.advance(time.Minute)
	d.clock.now = o.instant()
	require.Greater(t, d.clock.now, d.stack.Deadline())
	b := sealedPacket(t, l, nil, 1, datagram.Echo{Heard: datagram.NotHeard})
	pkt := udp.Packet{Buf: b, N: len(b), Addr: at(70), Received: d.clock.now}
	d.handle(&pkt, false)
	require.LessOrEqual(t, d.stack.Deadline(), d.clock.now, "the timers are still due")
	d.handle(&pkt, true)
	require.Greater(t, d.stack.Deadline(), d.clock.now)
}

func TestTimersWaitForTheBatch(t *testing.T) { timersWaitForTheBatch(t) }

// asksOnce asks a silent peer again and again for one caller, who then gives up.
func asksOnce(t testing.TB) {
	l, c := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := l.Verify(ctx, 7, time.Millisecond)
		ended <- err
	}()
	turn := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		c.advance(time.Microsecond)
		d.turn(nil, l.cfg.Clock.Read())
		return len(d.asked)
	}
	for asked := 0; asked == 0; asked = turn() {
	}
	for range 10 {
		result := d.asked[0].result
		d.askPeer(7, result)
		require.Len(t, d.asked, 1, "a question has the time at which its caller came")
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Zero(t, turn(), "nobody waits any more")
}

func TestAQuestionIsKeptWhileItsCallerWaits(t *testing.T) { asksOnce(t) }
