package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

const (
	start timed.Instant = 5_000_000_000
	wall  Time          = 1_700_000_000_000_000_000
)

func config(id timed.NodeID) Config {
	return Config{Self: timed.Incarnation{Node: id, Boot: timed.BootID(id)}, Timing: timed.LAN(),
		MaxDeviation: DefaultMaxDeviation, MaxSlew: DefaultMaxSlew, StepThreshold: DefaultStepThreshold}
}

// leader returns a leader's clock and its announcement.
func leader(t require.TestingT, id timed.NodeID, shown Time) (*Sync, Line) {
	c := New(config(id), start, shown)
	require.Len(t, c.HandleLead(start, nil), 1)
	return c, announced(t, c, start, start.Add(80*time.Millisecond))
}

// announced returns the line that a leader announces.
func announced(t require.TestingT, c *Sync, now, until timed.Instant) Line {
	out := c.Announce(now, until, nil)
	require.NotEmpty(t, out)
	require.Equal(t, SendLine, out[0].Kind)
	return out[0].Line
}

// announcedUTC returns a leader's announcement of UTC; ok is false if it announces
// nothing.
func announcedUTC(c *Sync, now timed.Instant) (u UTC, ok bool) {
	for _, e := range c.Announce(now, c.snap.until, nil) {
		if e.Kind == SendUTC {
			return e.UTC, true
		}
	}
	return UTC{}, false
}

func TestUnknownUntilLed(t *testing.T) {
	c := New(config(1), start, wall)
	r := c.Read(start.Add(time.Second))
	require.Equal(t, wall+Time(time.Second), r.Time, "the first timeline starts at the wall clock")
	require.Equal(t, UnknownBound, r.Deviation)
	require.Equal(t, Unsynchronized, r.Status)
	require.True(t, r.Timeline.None())
}

func TestLeaderIsGroupTime(t *testing.T) {
	c, line := leader(t, 1, wall)
	require.False(t, c.Read(start.Add(80*time.Millisecond)).Holdover)
	r := c.Read(start.Add(time.Second))
	require.True(t, r.Holdover, "the lease is over, and another may lead")
	require.Zero(t, r.Deviation, "it is its timeline's clock")
	require.Equal(t, Internal, r.Status)
	require.Equal(t, line.Timeline, r.Timeline)
	require.Empty(t, c.HandleLead(start.Add(time.Second), nil), "leading again changes nothing")
}

func TestFirstTimelineIsSteppedOnto(t *testing.T) {
	_, line := leader(t, 1, wall)
	f := New(config(2), start, wall-Time(time.Second))
	out := f.HandleLine(start, &line, -50*time.Microsecond, 50*time.Microsecond, nil)
	require.Equal(t, Stepped, out[0].Kind)
	r := f.Read(start)
	require.InDelta(t, float64(wall), float64(r.Time), 1000)
	require.LessOrEqual(t, r.Deviation, 51*time.Microsecond)
	require.Equal(t, Internal, r.Status)

	same := New(config(2), start, wall)
	require.Equal(t, []Kind{Adopted}, kinds(same.HandleLine(start, &line, -50*time.Microsecond, 50*time.Microsecond, nil)), "it does not jump")
}

func TestSmallDifferencesSlewAndLargeOnesStep(t *testing.T) {
	_, line := leader(t, 1, wall)
	follow := func(ahead time.Duration) (*Sync, []Effect) {
		f := New(config(2), start, wall+Time(ahead))
		f.NoteShared() // its time is in use
		return f, f.HandleLine(start, &line, 0, 0, nil)
	}
	f, out := follow(5 * time.Millisecond)
	require.Equal(t, Adopted, out[0].Kind)
	require.Equal(t, wall+Time(5*time.Millisecond), f.Read(start).Time, "no jump")
	require.InDelta(t, float64(5*time.Millisecond), float64(f.Read(start).Deviation), 100, "the deviation includes the difference")
	require.Equal(t, Unsynchronized, f.Read(start).Status, "and it is above ε")
	// 5 ms at 500 ppm take ten seconds; then the clock stays where it is.
	settled := f.Read(start.Add(11 * time.Second))
	require.InDelta(t, float64(wall+Time(11*time.Second)), float64(settled.Time), 1000)
	last := f.Read(start).Time
	for at := start; at < start.Add(12*time.Second); at = at.Add(10 * time.Millisecond) {
		now := f.Read(at).Time
		require.GreaterOrEqual(t, now, last, "never backwards")
		last = now
	}
	_, out = follow(11 * time.Millisecond)
	require.Equal(t, Stepped, out[0].Kind)
	require.InDelta(t, -float64(11*time.Millisecond), float64(out[0].Step), 10)
}

func TestHoldoverGrowsByItself(t *testing.T) {
	_, line := leader(t, 1, wall)
	f := New(config(2), start, wall)
	f.HandleLine(start, &line, -10*time.Microsecond, 10*time.Microsecond, nil)
	early, late := f.Read(start.Add(50*time.Millisecond)), f.Read(start.Add(2*time.Second))
	require.False(t, early.Holdover)
	require.True(t, late.Holdover)
	require.Equal(t, Unsynchronized, late.Status, "the flag drops without any message")
	// Before the promise ends the interval grows by 2ρ, and after it also by the
	// leader's largest slew, relative to the announced rate.
	want := 10*time.Microsecond + 2*100*time.Microsecond*2 + 500*2*time.Microsecond
	require.InDelta(t, float64(want), float64(late.Deviation), float64(100*time.Microsecond))
	line.Rate = -200_000
	f = New(config(2), start, wall)
	f.HandleLine(start, &line, -10*time.Microsecond, 10*time.Microsecond, nil)
	late = f.Read(start.Add(2 * time.Second))
	require.InDelta(t, float64(want+200*2*time.Microsecond), float64(late.Deviation), float64(100*time.Microsecond))
}

func TestNewLeaderGoesOnWithoutAJump(t *testing.T) { leaderGoesOn(t) }

func leaderGoesOn(t testing.TB) {
	_, line := leader(t, 1, wall)
	f := New(config(2), start, wall+Time(5*time.Millisecond))
	f.NoteShared() // so that the displayed clock is far from the known interval
	f.HandleLine(start, &line, -time.Millisecond, time.Millisecond, nil)
	now := start.Add(time.Second)
	before := f.Read(now)
	out := f.HandleLead(now, nil)
	after := f.Read(now)
	require.Equal(t, before.Time, after.Time)
	require.Equal(t, line.Timeline, out[0].Parent)
	require.NotEqual(t, line.Timeline, after.Timeline)
	require.Zero(t, after.Deviation, "relative to its own timeline")
}

func TestForeignLinesAreRefused(t *testing.T) {
	_, line := leader(t, 1, wall)
	f := New(config(2), start, wall)
	require.Empty(t, f.HandleLine(start, &line, time.Second, 0, nil), "an empty interval")
	fast := line
	fast.Rate = DefaultMaxSlew + 1
	require.Empty(t, f.HandleLine(start, &fast, 0, 0, nil), "a line faster than any clock may slew")
	own := line
	own.Timeline.Leader = 2
	require.Empty(t, f.HandleLine(start, &own, 0, 0, nil))
	require.Equal(t, UnknownBound, f.Read(start).Deviation)
}

func BenchmarkRead(b *testing.B) {
	_, line := leader(b, 1, wall)
	f := New(config(2), start, wall)
	f.HandleLine(start, &line, -time.Microsecond, time.Microsecond, nil)
	s := f.Snapshot()
	b.ReportAllocs()
	for i := range b.N {
		r := s.Read(start.Add(time.Duration(i)))
		if r.Time == 0 {
			b.Fatal()
		}
	}
}

// A timeline that comes back never shows less than before.
func TestReturningTimelineNeverRunsBack(t *testing.T) {
	_, a := leader(t, 1, wall)
	_, b := leader(t, 3, wall-Time(11*time.Millisecond))
	f := New(config(2), start, wall)
	f.HandleLine(start, &a, 0, 0, nil)
	f.NoteShared()
	f.HandleLine(start.Add(time.Millisecond), &b, 0, 0, nil)
	left := f.Read(start.Add(time.Millisecond))
	require.Equal(t, b.Timeline, left.Timeline)
	// Close enough to b that a change back would slew.
	a.Shown -= Time(4 * time.Millisecond)
	at := start.Add(4 * time.Millisecond)
	out := f.HandleLine(at, &a, 0, 0, nil)
	require.Equal(t, Stepped, out[0].Kind)
	r := f.Read(at)
	require.GreaterOrEqual(t, r.Time, wall+Time(time.Millisecond), "not less than before")
	truth := a.Shown + Time(4*time.Millisecond)
	require.LessOrEqual(t, r.Time.Sub(truth).Abs(), r.Deviation)
}

// A timeline that comes back at the time at which it was left is adopted without a step, however
// far its leader is behind: the clock waits for it.
func stepOfNothing(t testing.TB) {
	_, a := leader(t, 1, wall)
	_, b := leader(t, 3, wall)
	f := New(config(2), start, wall)
	f.HandleLine(start, &a, 0, 0, nil)
	f.NoteShared()
	f.HandleLine(start, &b, 0, 0, nil)
	a.Shown -= Time(f.cfg.StepThreshold + time.Millisecond)
	out := f.HandleLine(start, &a, 0, 0, nil)
	require.Equal(t, []Effect{{Kind: Adopted, Timeline: a.Timeline}}, out)
	require.Equal(t, wall, f.Read(start).Time)
}

func TestNoStepOfNothing(t *testing.T) { stepOfNothing(t) }

// The timelines of all other nodes, and own leads, do not push out one, whose time must not run back either.
func alternatingTimelines(t testing.TB) {
	_, a := leader(t, 1, wall)
	f := New(config(2), start, wall)
	f.HandleLine(start, &a, 0, 0, nil)
	f.NoteShared()
	at := start
	for range 3 {
		for i := range timed.NodeID(timed.MaxNodes - 2) {
			at = at.Add(time.Microsecond)
			_, other := leader(t, 3+i, wall-Time(11*time.Millisecond))
			f.HandleLine(at, &other, 0, 0, nil)
			require.Equal(t, other.Timeline, f.Read(at).Timeline)
		}
		f.HandleLead(at, nil) // timelines of its own never come back
	}
	a.Shown -= Time(4 * time.Millisecond) // close enough to the others that a change back would slew
	f.HandleLine(at, &a, 0, 0, nil)
	require.Equal(t, a.Timeline, f.Read(at).Timeline)
	require.GreaterOrEqual(t, f.Read(at).Time, wall, "not less than before")
}

func TestOtherTimelinesPushOutNone(t *testing.T) { alternatingTimelines(t) }

// The leader's promise ends, by this clock, when the leader's clock may have reached its end.
func promiseEndsEarly(t testing.TB) {
	_, line := leader(t, 1, wall)
	f := New(config(2), start, wall)
	const width = 2 * time.Millisecond
	line.Until = start.Add(10 * time.Millisecond)
	f.HandleLine(start, &line, -width, width, nil)
	require.False(t, f.Read(start.Add(8*time.Millisecond-10*time.Microsecond)).Holdover)
	require.True(t, f.Read(start.Add(8*time.Millisecond+1)).Holdover)
}

func TestThePromiseEndsAtItsEarliestEnd(t *testing.T) { promiseEndsEarly(t) }

// lateLine has a line come after the end of its promise. The leader has bent it meanwhile.
func lateLine(t testing.TB) {
	for _, late := range []time.Duration{10 * time.Millisecond, 250 * time.Millisecond} {
		c := utcLeader()
		line := announced(t, c, start, start.Add(time.Microsecond))
		for k := range 3 {
			says(c, SourceID(k+1), start.Add(time.Duration(k)*10*time.Microsecond), 8*time.Millisecond, time.Microsecond, NoLeap)
		}
		c.Steer(start.Add(100*time.Microsecond), nil)
		f := New(utcConfig(2), start, wall)
		now := start.Add(late)
		f.HandleLine(now, &line, 0, 0, nil)
		r, truth := f.Read(now), c.Read(now)
		require.Equal(t, truth.Timeline, r.Timeline)
		require.NotEqual(t, truth.Time, r.Time, "it has bent")
		require.LessOrEqual(t, truth.Time.Sub(r.Time).Abs(), r.Deviation, "after %v", late)
		require.True(t, r.Holdover)
	}
}

func TestALineComesAfterItsPromise(t *testing.T) { lateLine(t) }

// A leader that gets a shorter lease after a longer one is in holdover when the shorter one is
// over, since another may lead then; and it is not yet in the last instant of it.
func shorterLeaseCounts(t testing.TB) {
	c, _ := leader(t, 1, wall)
	announced(t, c, start, start.Add(100*time.Millisecond))
	end := start.Add(50 * time.Millisecond)
	announced(t, c, start, end)
	require.False(t, c.Read(end).Holdover)
	require.True(t, c.Read(end+1).Holdover)
}

func TestAShorterLeaseEndsTheClaim(t *testing.T) { shorterLeaseCounts(t) }

// A clock that slews reaches the middle of its interval, and goes on with it, whatever the rate
// of the line is.
func slewsToTheMiddle(t testing.TB) {
	for _, rate := range []int64{-250_000, 0, 250_000} {
		for _, ahead := range []time.Duration{-2 * time.Millisecond, 2 * time.Millisecond} {
			_, line := leader(t, 1, wall)
			line.Rate = rate
			f := New(config(2), start, wall+Time(ahead))
			f.NoteShared()
			f.HandleLine(start, &line, 0, 0, nil)
			for after := 10 * time.Second; after < 30*time.Second; after += 5 * time.Second {
				at := start.Add(after)
				require.InDelta(t, 0, float64(f.Read(at).Time.Sub(line.At(at))), 1000, "%v at rate %d", ahead, rate)
			}
		}
	}
}

func TestASlewEndsInTheMiddle(t *testing.T) { slewsToTheMiddle(t) }

// A clock follows one that runs away from it as fast as ρ allows, if it is corrected by
// LeastSlew. Otherwise its deviation grows without end.
func TestTheLeastSlewIsEnough(t *testing.T) {
	deviation := func(rho timed.Drift, slew int64, after time.Duration) time.Duration {
		follows := config(2)
		follows.Timing.MaxDrift, follows.MaxSlew = rho, slew
		leads := follows
		leads.Self = timed.Incarnation{Node: 1, Boot: 1}
		fast, slow := testClock{start, int64(rho)}, testClock{start, -int64(rho)}
		l, f := New(leads, start, wall), New(follows, start, wall)
		l.HandleLead(start, nil)
		for at := int64(0); at <= int64(after); at += int64(25 * time.Millisecond) {
			line := announced(t, l, fast.at(at), fast.at(at).Add(80*time.Millisecond))
			off := fast.at(at).Sub(slow.at(at))
			f.HandleLine(slow.at(at), &line, off-10*time.Microsecond, off+10*time.Microsecond, nil)
		}
		return f.Read(slow.at(int64(after))).Deviation
	}
	for _, rho := range []timed.Drift{50_000, 100_000, 250_000, 400_000} {
		require.Less(t, deviation(rho, LeastSlew(rho), time.Minute), 100*time.Microsecond, "%v", rho)
		early, late := deviation(rho, LeastSlew(rho)-50_000, time.Minute), deviation(rho, LeastSlew(rho)-50_000, 2*time.Minute)
		require.InDelta(t, 3*time.Millisecond, late-early, float64(time.Millisecond)/10, "50 ppm of a minute")
	}
}
