package life

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

const start = timed.Instant(1e12)

func machine(earlier time.Duration) (Machine, timed.Timing) {
	t := timed.LAN()
	return New(&t, earlier, start), t
}

func TestLife(t *testing.T) {
	for name, test := range map[string]func(testing.TB){
		"readings of the clock":       checks,
		"votes of an earlier process": votesOfAnEarlierProcess,
		"restarts before readiness":   restartsBeforeReadiness,
		"quick restarts back off":     quickRestartsBackOff,
		"an incarnation is held back": heldBack,
		"to be held back is no life":  heldBackIsNoLife,
		"the end of a node":           theEnd,
	} {
		t.Run(name, func(t *testing.T) { test(t) })
	}
}

func checks(t testing.TB) {
	require.Equal(t, None, Check(5, 5, 1, 1))
	require.Equal(t, ClockBackwards, Check(5, 4, 1, 1))
	require.Equal(t, Suspended, Check(5, 4, 1, 2), "a suspend explains the rest")
	for why, ofClock := range map[Reason]bool{None: false, Suspended: true, ClockBackwards: true, ClockRate: true,
		PeersContradict: true, Overrun: false, Inconsistent: true, NewEpoch: false, LateState: false} {
		require.Equal(t, ofClock, why.Discredits(), "%d", why)
	}
}

// Longer votes of an earlier process are waited for, and shorter ones are not.
func votesOfAnEarlierProcess(t testing.TB) {
	m, timing := machine(0)
	require.Equal(t, start, m.BeginAt(false))
	m, _ = machine(timing.MaxLockTime)
	require.Equal(t, start, m.BeginAt(false))
	m, _ = machine(timing.MaxLockTime + time.Second)
	extra := m.BeginAt(false).Sub(start)
	require.Greater(t, extra, time.Second)
	require.Less(t, extra, time.Second+time.Millisecond)
}

// Whatever restarts a node before an incarnation is ready, longer votes of an earlier
// process are waited for by one clock that is trusted all the while. They are over
// once an incarnation is ready.
func restartsBeforeReadiness(t testing.TB) {
	timing := timed.LAN()
	const earlier = 5 * time.Second
	held := timing.MaxDrift.Wait(earlier) - timing.ReadyTime()
	for _, why := range []Reason{Suspended, ClockBackwards, ClockRate, PeersContradict, Inconsistent} {
		for _, begun := range []bool{false, true} {
			m, _ := machine(earlier)
			now := start.Add(time.Millisecond)
			if begun {
				now = m.BeginAt(false)
				m.Begin(now)
				now = now.Add(timing.ReadyTime() - 1)
			}
			if why == ClockBackwards {
				now = start.Add(-time.Minute)
			}
			m.Restart(now, why)
			require.Equal(t, now.Add(held), m.BeginAt(false), "%d, begun %v", why, begun)
			now = m.BeginAt(false)
			m.Begin(now)
			m.Ready()
			m.Restart(now, Suspended)
			require.Equal(t, now, m.BeginAt(false), "%d, begun %v", why, begun)
		}
	}
	m, _ := machine(10 * time.Second)
	for range 8 { // the longer of both waits counts
		now := m.BeginAt(false)
		m.Begin(now)
		m.Restart(now, PeersContradict)
		require.GreaterOrEqual(t, m.BeginAt(false).Sub(now), timing.MaxDrift.Wait(10*time.Second)-timing.ReadyTime())
	}
	require.Greater(t, m.BeginAt(false).Sub(m.since), 10*time.Second)
}

// Quick restarts in a row wait longer and longer, up to a minute; a suspend and a
// long life end the row.
// heldBackIsNoLife has an incarnation begin long after it might have: what counts is how long
// it lasts.
func heldBackIsNoLife(t testing.TB) {
	m, _ := machine(0)
	now := start
	for range 3 {
		now = now.Add(2 * longLife)
		m.Begin(now)
		m.Restart(now, Overrun)
	}
	require.Greater(t, m.BeginAt(false), now)
}

func quickRestartsBackOff(t testing.TB) {
	m, timing := machine(0)
	now, last := start, time.Duration(0)
	for i := range 100 {
		m.Begin(now)
		now = now.Add(time.Second)
		m.Restart(now, PeersContradict)
		require.Equal(t, PeersContradict, m.Waiting())
		wait := m.BeginAt(false).Sub(now)
		switch i {
		case 0:
			require.Zero(t, wait)
		case 1:
			require.Equal(t, 4*timing.ReadyTime(), wait)
		default:
			require.True(t, wait == maxBackoff || wait == 2*last, "%v after %v", wait, last)
		}
		last = wait
		now = now.Add(wait)
	}
	require.Equal(t, maxBackoff, last)
	m.Begin(now)
	for i, end := range []struct {
		after time.Duration
		why   Reason
		quick bool
	}{
		{0, Suspended, true}, {0, Overrun, true}, {0, Overrun, false}, {0, NewEpoch, true},
		{0, Overrun, true}, {longLife, Overrun, false}, {longLife + 1, Overrun, true}, {0, Overrun, true}, {0, Overrun, false},
	} {
		now = now.Add(end.after)
		m.Restart(now, end.why)
		require.Equal(t, end.quick, m.BeginAt(false) == now, "%d", i)
		now = m.BeginAt(false)
		m.Begin(now)
	}
	require.Equal(t, 110, m.Incarnations())
	m.Begin(now)
	require.Equal(t, None, m.Waiting())
}

func heldBack(t testing.TB) {
	m, _ := machine(0)
	require.Equal(t, timed.Never, m.BeginAt(true), "the application lags")
	require.False(t, m.JudgeRate(RateUnknown))
	require.False(t, m.JudgeRate(RateWithin))
	require.Equal(t, start, m.BeginAt(false))
	require.True(t, m.JudgeRate(RateBeyond))
	require.False(t, m.JudgeRate(RateBeyond), "it is over already")
	require.Equal(t, timed.Never, m.BeginAt(false))
	require.False(t, m.JudgeRate(RateUnknown))
	require.Equal(t, timed.Never, m.BeginAt(false), "nothing says that the rate has changed")
	require.False(t, m.JudgeRate(RateWithin))
	require.Equal(t, start, m.BeginAt(false))
}

func theEnd(t testing.TB) {
	m, _ := machine(0)
	m.Blame(Overrun)
	require.Equal(t, Overrun, m.Blamed())
	m.Restart(start, m.Blamed())
	require.Equal(t, None, m.Blamed())
	m.Leave()
	require.True(t, m.Leaving() && !m.Over())
	m.Fail(false)
	require.True(t, m.Over() && m.MaySpeak())
	m.Fail(true)
	m.Fail(false)
	require.False(t, m.MaySpeak(), "what was not written must not be said")
	m, _ = machine(0)
	m.Fail(true)
	require.True(t, m.Over(), "and the node goes no further")
	m, _ = machine(0)
	m.End()
	require.True(t, m.Over() && m.MaySpeak())
}
