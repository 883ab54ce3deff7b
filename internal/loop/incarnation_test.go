package loop

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// An incarnation that ends takes its lead and its messages with it, whatever ended
// it, and another one begins.
func TestTheEndOfAnIncarnation(t *testing.T) { endsOfIncarnations(t) }

func endsOfIncarnations(t testing.TB) {
	for why, end := range map[life.Reason]func(*driver){
		life.PeersContradict: func(d *driver) { d.note(&stack.Event{Kind: stack.EventRestart}) },
		life.Overrun:         func(d *driver) { d.note(&stack.Event{Kind: stack.EventOverrun}) },
		life.NewEpoch:        func(d *driver) { d.note(&stack.Event{Kind: stack.EventNewEpoch}) },
		life.Inconsistent:    func(d *driver) { d.note(&stack.Event{Kind: stack.EventInconsistent}) },
		life.Suspended:       func(d *driver) { d.clock.era-- },
		life.ClockBackwards:  func(d *driver) { d.l.cfg.Conn.(*fakeConn).advance(-time.Second) },
		life.ClockRate:       func(d *driver) { d.judgeRate(hwclock.RateFaulty) },
		life.LateState:       func(d *driver) { d.recallOrdered([]broadcast.Mark{{Node: 2, Boot: 1, Sequence: 1}}) },
	} {
		l, c := newTestLoop(t)
		d, before := l.driver, l.Snapshot()
		require.True(t, before.Leading)
		promise := d.hold(false)
		readersFirst(t, l)
		w := l.Sends().NewWaiter()
		d.mu.Lock() // no caller takes a turn
		_, err := l.Sends().Send(t.Context(), sendqueue.Application, []byte("lost"), broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}, w.Queued, false)
		d.mu.Unlock()
		require.NoError(t, err)
		if why == life.Suspended || why == life.ClockBackwards {
			end(d) // between two turns
		} else {
			l.do(end)
		}
		d.turn(nil, l.cfg.Clock.Read())
		require.Equal(t, why.Discredits(), promise.Basis.Trust.Lost(), "%d", why)
		require.False(t, l.Snapshot().Trust.Lost(), "%d", why)
		require.Equal(t, []life.Reason{why}, l.cfg.Sink.(*recorder).restarts)
		after := l.Snapshot()
		require.NotEqual(t, before.Self.Boot, after.Self.Boot)
		require.False(t, after.Leading)
		<-before.Phase.Over
		require.NotNil(t, before.Phase.Lost(), "%d", why)
		select {
		case <-w.Result: // delivered, or lost with the incarnation
		default:
			require.Fail(t, "the outcome of a message is left open", "%d", why)
		}
		last := lastOf(l)
		require.Equal(t, deliveryqueue.NewIncarnation, last.Kind)
		require.Equal(t, why, last.Change.Reason)
		require.Equal(t, after.Self.Boot, last.Message.Boot)

		if why == life.ClockRate {
			l.do(func(d *driver) { d.judgeRate(hwclock.RateUnknown) })
			for range 10 {
				step(l, c)
				require.Nil(t, d.stack, "the clock is held to be faulty")
			}
			l.do(func(d *driver) { d.judgeRate(hwclock.RateFine) })
		}
		for !l.Snapshot().Leading {
			step(l, c)
		}
		require.Equal(t, 2, d.life.Incarnations())
	}
}

// readersFirst requires that readers know of the next incarnation before the application hears of it.
func readersFirst(t testing.TB, l *Loop) {
	boot, once := l.Snapshot().Self.Boot, sync.Once{}
	l.cfg.OnPublish = func(s *Snapshot, _, _ timed.Instant) {
		if s.Self.Boot != boot {
			once.Do(func() { require.NotEqual(t, deliveryqueue.NewIncarnation, lastOf(l).Kind) })
		}
	}
}

// While an incarnation is held back, the node still tells the time, and claims nothing
// about it: it no longer hears of other leaders, and its clock may be faulty.
func nothingClaimedBetween(t testing.TB) {
	l, c := newTestLoop(t)
	known := func() clocksync.Reading {
		x := l.Snapshot().Clock
		return x.Read(c.instant())
	}
	l.driver.handleSample(&clocksync.Sample{Low: 1e18, High: 1e18 + 1000, At: c.instant(), Source: 1}, 0)
	for known().Status != clocksync.External {
		step(l, c)
	}
	before := known()
	require.Zero(t, before.Deviation, "it leads")
	l.do(func(d *driver) { d.judgeRate(hwclock.RateFaulty) })
	l.driver.turn(nil, l.cfg.Clock.Read())
	require.Nil(t, l.driver.stack)
	for _, wait := range []time.Duration{0, time.Second, time.Hour} {
		c.advance(wait)
		r := known()
		require.Equal(t, clocksync.Unsynchronized, r.Status)
		require.Equal(t, clocksync.UnknownBound, r.Deviation)
		require.Equal(t, clocksync.UnknownBound, r.UTCBound)
		require.Equal(t, before.Timeline, r.Timeline)
		require.GreaterOrEqual(t, r.Time, before.Time)
	}
}

func TestNothingIsClaimedBetweenIncarnations(t *testing.T) { nothingClaimedBetween(t) }

// A node whose machine is suspended before its first incarnation leads no earlier than
// the longer votes of its earlier process end.
func suspendedBeforeTheFirst(t testing.TB) {
	const earlier = 5 * time.Second
	state := stateOf(t, t.TempDir(), earlier)
	l, c := newLoop(func(cfg *Config) { cfg.State = state })
	l.driver.turn(nil, l.cfg.Clock.Read())
	require.Nil(t, l.driver.stack)
	c.advance(time.Millisecond)
	l.driver.clock.era--
	restarted := c.instant()
	l.driver.turn(nil, l.cfg.Clock.Read())
	for !l.Snapshot().Leading {
		step(l, c)
	}
	require.GreaterOrEqual(t, c.instant().Sub(restarted), earlier)

	restarted = c.instant()
	l.driver.clock.era--
	step(l, c)
	for !l.Snapshot().Leading {
		step(l, c)
	}
	require.Less(t, c.instant().Sub(restarted), earlier, "the votes are over")
}

func TestLongerVotesOutlastASuspend(t *testing.T) { suspendedBeforeTheFirst(t) }

// lastOf takes all deliveries, and returns the last one.
func lastOf(l *Loop) (last deliveryqueue.Item) {
	for items, _, _ := l.Deliveries().Borrow(10); len(items) > 0; items, _, _ = l.Deliveries().Borrow(10) {
		last = items[len(items)-1]
	}
	return last
}

// A clock that was held to be faulty is trusted again by each verdict that it is not, also by
// one that it nearly is.
func TestVerdictsOnTheRate(t *testing.T) {
	for v, trusted := range map[hwclock.Verdict]bool{hwclock.RateUnknown: false, hwclock.RateFine: true, hwclock.RateSuspect: true, hwclock.RateFaulty: false} {
		l, c := newLoop(func(*Config) {})
		for _, v := range []hwclock.Verdict{hwclock.RateFaulty, v} {
			l.do(func(d *driver) { d.judgeRate(v) })
			for range 100 {
				step(l, c)
			}
		}
		require.Equal(t, trusted, l.driver.stack != nil, "%v", v)
	}
}
