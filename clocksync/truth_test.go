package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// testClock is a hardware clock that shows offset + t + t·rate·10⁻⁹, rounded
// down, at true time t.
type testClock struct {
	offset timed.Instant
	rate   int64
}

func (c testClock) at(t int64) timed.Instant { return c.offset + timed.Instant(t+floorPPB(t, c.rate)) }

// floorPPB returns ⌊d·ppb·10⁻⁹⌋.
func floorPPB(d, ppb int64) int64 {
	q, r := d/1e9, d%1e9*ppb
	if r < 0 {
		r -= 1e9 - 1
	}
	return q*ppb + r/1e9
}

// groupTime is a timeline as true time sees it. Its Until is the end of the
// leader's longest promise.
type groupTime struct {
	Line
	clock testClock
}

func (g *groupTime) at(t int64) Time { return g.shows(g.clock.at(t)) }

// shows returns group time when the leader's clock shows h.
func (g *groupTime) shows(h timed.Instant) Time {
	run := func(from, to timed.Instant, rate int64) Time {
		return Time(to-from) + Time(floorPPB(int64(to-from), rate))
	}
	if g.Bend == 0 || h <= g.Bend {
		return g.Shown + run(g.Base, h, g.Rate)
	}
	return g.Shown + run(g.Base, g.Bend, g.Rate) + run(g.Bend, h, g.Next)
}

// follower is a node that follows one leader after the other, and leads at times.
type follower struct {
	c     *Sync
	clock testClock
	now   int64 // true time
	lines map[TimelineID]*groupTime
	last  map[TimelineID]Time // the last time shown on each timeline
	least time.Duration       // the least deviation, to see that bounds are not always wide
}

// look takes a reading, and compares it with the truth.
func (f *follower) look(t *rapid.T) {
	r := f.c.Read(f.clock.at(f.now))
	if last, was := f.last[r.Timeline]; was {
		require.GreaterOrEqual(t, r.Time, last, "time ran back on %v", r.Timeline)
	}
	if r.Timeline.None() {
		require.Equal(t, UnknownBound, r.Deviation)
		return
	}
	f.last[r.Timeline] = r.Time
	f.least = min(f.least, r.Deviation)
	require.Equal(t, r.Deviation <= DefaultMaxDeviation, r.Status == Internal)
	off := r.Time.Sub(f.lines[r.Timeline].at(f.now)).Abs()
	require.LessOrEqual(t, off, r.Deviation, "on %v", r.Timeline)
}

// For any drifts, delays and leaders, the deviation of a reading covers group time, and
// no timeline runs back, not even one that is left and returned to.
func TestReadingsHoldGroupTimeAndNeverRunBack(t *testing.T) { readingsHold(t) }

// hear lets the follower receive a leader's line.
func (f *follower) hear(t *rapid.T, g *groupTime) {
	h := f.clock.at(f.now)
	off := g.clock.at(f.now).Sub(h)
	lo := off - time.Duration(rapid.Int64Range(0, 1e6).Draw(t, "below"))
	hi := off + time.Duration(rapid.Int64Range(0, 1e6).Draw(t, "above"))
	l := g.Line
	l.Until = g.clock.at(f.now).Add(time.Duration(rapid.Int64Range(-10e6, 80e6).Draw(t, "promise")))
	g.Until = timed.Later(g.Until, l.Until)
	f.c.HandleLine(h, &l, lo, hi, nil)
	require.Equal(t, g.Timeline, f.c.Read(h).Timeline)
}

// Wherever in its interval the leader's clock is, the bound holds around the bend of its line.
func TestBendsAreForeseenFromBothEnds(t *testing.T) { bendsAreForeseen(t) }

func bendsAreForeseen(t testing.TB) {
	const width = 2 * time.Millisecond
	cfg := config(1)
	cfg.Timing.MaxDrift = 1 // so that no other bound hides a wrong one
	for _, off := range []time.Duration{0, width} {
		for _, next := range []int64{-DefaultMaxSlew, DefaultMaxSlew} {
			for _, ahead := range []time.Duration{-time.Millisecond, 10 * time.Millisecond} {
				f := New(cfg, start, wall)
				g := Line{Timeline: TimelineID{2, 2, 1}, Base: start.Add(-time.Second), Shown: wall, Rate: -next, Bend: start.Add(ahead), Next: next,
					Until: start.Add(time.Second)}
				f.HandleLine(start, &g, -off, width-off, nil) // the leader's clock shows the same
				for _, later := range []time.Duration{0, 9 * time.Millisecond, 10 * time.Millisecond, 12 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond} {
					at := start.Add(later)
					require.LessOrEqual(t, f.snap.middleAt(at).Sub(g.At(at)).Abs(), f.snap.width(at, later))
					require.LessOrEqual(t, f.snap.width(at, later), width/2+width*4*DefaultMaxSlew/1e9, "and it is not wide")
				}
			}
		}
	}
}

// The rates of hardware clocks: |dt/dH − 1| ≤ 100 ppm, and so dH/dt is a little more than
// 1 − 100 ppm.
var drawRate = rapid.OneOf(rapid.Just(int64(-99_990)), rapid.Just(int64(99_990)), rapid.Int64Range(-99_990, 99_990))

// The rates of lines.
var drawSlew = rapid.OneOf(rapid.Just(int64(0)), rapid.Just(int64(-DefaultMaxSlew)), rapid.Just(int64(DefaultMaxSlew)),
	rapid.Int64Range(-DefaultMaxSlew, DefaultMaxSlew))

func readingsHold(t testing.TB) {
	least := UnknownBound
	rapid.Check(t, func(t *rapid.T) {
		f := &follower{clock: testClock{start, drawRate.Draw(t, "own rate")}, lines: map[TimelineID]*groupTime{},
			last: map[TimelineID]Time{}, least: UnknownBound}
		f.c = New(config(1), start, wall+Time(rapid.Int64Range(-20e6, 20e6).Draw(t, "ahead")))
		var leaders []*groupTime
		for id := timed.NodeID(2); id <= 4; id++ {
			g := &groupTime{clock: testClock{timed.Instant(rapid.Int64Range(1e9, 1<<50).Draw(t, "offset")), drawRate.Draw(t, "rate")}}
			g.Line = Line{Timeline: TimelineID{Leader: id, Boot: timed.BootID(id), Sequence: 1}, Base: g.clock.at(0),
				Shown: wall + Time(rapid.Int64Range(-20e6, 20e6).Draw(t, "shown")),
				Rate:  drawSlew.Draw(t, "slew")}
			f.lines[g.Timeline] = g
			leaders = append(leaders, g)
		}
		t.Repeat(map[string]func(*rapid.T){
			"hears a leader": func(t *rapid.T) { f.hear(t, leaders[rapid.IntRange(0, 2).Draw(t, "leader")]) },
			"leads": func(t *rapid.T) {
				h := f.clock.at(f.now)
				f.c.HandleLead(h, nil)
				l := announced(t, f.c, h, h.Add(80*time.Millisecond))
				if g, was := f.lines[l.Timeline]; was {
					require.Equal(t, g.Base, l.Base, "a line does not change")
					require.Equal(t, g.Shown, l.Shown)
				}
				f.lines[l.Timeline] = &groupTime{l, f.clock}
			},
			"a leader slews": func(t *rapid.T) { // as it may once its promises are over
				g := leaders[rapid.IntRange(0, 2).Draw(t, "leader")]
				h := g.clock.at(f.now)
				if h < g.Until {
					t.Skip("promised")
				}
				g.Base, g.Shown, g.Rate, g.Bend, g.Next = h, g.at(f.now), drawSlew.Draw(t, "slew"), 0, 0
			},
			"a leader announces a bend": func(t *rapid.T) { // where its promises end
				g := leaders[rapid.IntRange(0, 2).Draw(t, "leader")]
				h := g.clock.at(f.now)
				if g.Bend != 0 && h < g.Bend {
					t.Skip("bends already")
				}
				if g.Bend != 0 {
					g.Base, g.Shown, g.Rate = g.Bend, g.shows(g.Bend), g.Next
				}
				g.Bend, g.Next = timed.Later(h, g.Until), drawSlew.Draw(t, "next")
			},
			"is shared": func(*rapid.T) { f.c.NoteShared() },
			"waits": func(t *rapid.T) {
				f.now += rapid.OneOf(rapid.Int64Range(0, 200e6), rapid.Int64Range(0, 5e9)).Draw(t, "ns")
			},
			"": func(t *rapid.T) { f.look(t) },
		})
		least = min(least, f.least)
	})
	require.Less(t, least, time.Millisecond)
}

// In holdover the bound covers a leader that slews the other way than it had announced
// for the time after a bend.
func holdoverAfterABend(t testing.TB) {
	c := New(config(1), start, wall+Time(DefaultStepThreshold-time.Millisecond))
	c.NoteShared() // so it slews
	bend := start.Add(time.Second)
	l := Line{Timeline: TimelineID{Leader: 2, Boot: 2, Sequence: 1}, Base: start, Shown: wall, Bend: bend, Next: DefaultMaxSlew, Until: bend}
	c.HandleLine(start, &l, 0, 0, nil)
	l.Next = -DefaultMaxSlew // as it may choose once its promise is over
	for after := time.Second; after < time.Minute; after += time.Second {
		r := c.Read(start.Add(after))
		require.LessOrEqual(t, r.Time.Sub(l.At(start.Add(after))).Abs(), r.Deviation, "%v", after)
	}
}

// A leader may be allowed to slew faster than the node that follows it.
func leaderSlewsFaster(t testing.TB) {
	cfg := config(1)
	cfg.MaxSlew = LeastSlew(cfg.Timing.MaxDrift)
	c := New(cfg, start, wall)
	l := Line{Timeline: TimelineID{Leader: 2, Boot: 2, Sequence: 1}, Base: start, Shown: wall, Until: start.Add(time.Second)}
	c.HandleLine(start, &l, 0, 0, nil)
	l.Bend, l.Next = l.Until, MaxSlewLimit/2
	for after := time.Second; after < time.Hour; after += time.Minute {
		r := c.Read(start.Add(after))
		require.LessOrEqual(t, r.Time.Sub(l.At(start.Add(after))).Abs(), r.Deviation, "%v", after)
	}
}

// lineIsTooFast has a leader slew faster than its follower may, for some seconds. The follower knows
// how far it falls behind, and catches up.
func lineIsTooFast(t testing.TB) {
	for _, rate := range []int64{-fastestLine, fastestLine} {
		cfg := config(1)
		cfg.MaxSlew = LeastSlew(cfg.Timing.MaxDrift)
		c := New(cfg, start, wall)
		l := Line{Timeline: TimelineID{Leader: 2, Boot: 2, Sequence: 1}, Base: start, Shown: wall, Rate: rate, Bend: start.Add(5 * time.Second)}
		last := c.Read(start)
		for at := start; at < start.Add(20*time.Second); at = at.Add(10 * time.Millisecond) {
			if l.Until = at.Add(time.Second); at.Sub(start)%(50*time.Millisecond) == 0 {
				c.HandleLine(at, &l, 0, 0, nil)
			}
			r := c.Read(at)
			require.False(t, r.Holdover)
			require.LessOrEqual(t, r.Time.Sub(l.At(at)).Abs(), r.Deviation)
			if at > start {
				require.LessOrEqual(t, int64((r.Time.Sub(last.Time) - 10*time.Millisecond).Abs()), 10*cfg.MaxSlew/1000+1, "it is slewed too fast")
			}
			if last = r; at == l.Bend {
				require.InDelta(t, 5*float64(fastestLine-cfg.MaxSlew), float64(r.Deviation), 5e4)
			}
		}
		require.Less(t, last.Deviation, 20*time.Microsecond)
	}
}

func TestALineIsFasterThanItsFollower(t *testing.T) { lineIsTooFast(t) }

func TestLeaderSlewsFasterThanItsFollower(t *testing.T) { leaderSlewsFaster(t) }

func TestHoldoverAfterABend(t *testing.T) { holdoverAfterABend(t) }

// A reader may read the hardware clock before the evidence comes, and look at it afterwards. The
// bound holds then too.
func earlierReadingsHold(t testing.TB) {
	for _, rates := range [][2]int64{{-99_990, 99_990}, {99_990, -99_990}} {
		f := New(config(1), start, wall)
		clock, g := testClock{start, rates[0]}, groupTime{clock: testClock{7 * start, rates[1]}}
		g.Line = Line{Timeline: TimelineID{Leader: 2, Boot: 2, Sequence: 1}, Base: g.clock.at(0), Shown: wall, Until: timed.Never}
		const heard = 10e9
		off := g.clock.at(heard).Sub(clock.at(heard))
		f.HandleLine(clock.at(heard), &g.Line, off, off, nil)
		for _, before := range []int64{0, 1e6, 1e9, 9e9} {
			r := f.Read(clock.at(heard - before))
			require.LessOrEqual(t, r.Time.Sub(g.at(heard-before)).Abs(), r.Deviation, "%d ns before", before)
		}
	}
}

func TestReadingsBeforeTheEvidenceHold(t *testing.T) { earlierReadingsHold(t) }

// A fast clock of the leader speeds up the slew of its line, too, by much more than the bound
// covers otherwise if the evidence is old.
func slewsDrift(t testing.TB) {
	const rho = 99_990
	for _, slew := range []int64{-DefaultMaxSlew, DefaultMaxSlew} {
		f := New(config(1), start, wall)
		clock, g := testClock{start, -rho}, groupTime{clock: testClock{7 * start, rho}}
		g.Line = Line{Timeline: TimelineID{Leader: 2, Boot: 2, Sequence: 1}, Base: g.clock.at(0), Shown: wall, Rate: slew, Until: timed.Never}
		off := g.clock.at(0).Sub(clock.at(0))
		f.HandleLine(clock.at(0), &g.Line, off, off, nil)
		for _, later := range []int64{1e9, 1e12, 1e13} {
			r := f.Read(clock.at(later))
			require.LessOrEqual(t, r.Time.Sub(g.at(later)).Abs(), r.Deviation, "%d ns later at a rate of %d", later, slew)
		}
	}
}

func TestTheBoundCoversTheDriftOfASlew(t *testing.T) { slewsDrift(t) }
