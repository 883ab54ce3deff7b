package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Line gives group time as a function of the leader's hardware clock: Shown at Base,
// running at 1 + Rate·10⁻⁹ until Bend and at 1 + Next·10⁻⁹ from then on. A Bend of 0
// means no bend. The leader may not change the line before Until, so it announces a bend
// before the bend comes.
type Line struct {
	Timeline TimelineID
	Parent   TimelineID // that Timeline continues
	Base     timed.Instant
	Shown    Time
	Rate     int64
	Bend     timed.Instant
	Next     int64
	Until    timed.Instant
}

// At returns group time when the leader's clock shows h.
func (l *Line) At(h timed.Instant) Time {
	if l.Bend == 0 || h <= l.Bend {
		return l.Shown + Time(advance(h.Sub(l.Base), l.Rate))
	}
	t := l.Shown + Time(advance(l.Bend.Sub(l.Base), l.Rate))
	return t + Time(advance(h.Sub(l.Bend), l.Next))
}

// straight returns the line without a bend that lies in the past.
func (l *Line) straight(now timed.Instant) Line {
	s := *l
	if l.Bend != 0 && now >= l.Bend {
		s.Base, s.Shown, s.Rate, s.Bend, s.Next = l.Bend, l.At(l.Bend), l.Next, 0, 0
	}
	return s
}

// advance returns d at a rate of 1 + ppb·10⁻⁹.
func advance(d time.Duration, ppb int64) time.Duration {
	if ppb == 0 {
		return d
	}
	if uint64(d) < 1<<43 && uint64(ppb+1<<20) < 1<<21 { // the product fits
		return d + time.Duration(int64(d)*ppb/1e9)
	}
	q, r := int64(d)/1e9, int64(d)%1e9
	return d + time.Duration(q*ppb+r*ppb/1e9)
}

// Timing of the leader's steering towards UTC.
const (
	// steerEvery is how often the rate is chosen again.
	steerEvery = 500 * time.Millisecond
	// steerTime is the time in which a difference from UTC should vanish.
	steerTime = 5 * time.Second
)

// Steer makes group time follow the references, if this node leads and knows any. It
// bends the line, by at most half of the largest slew so that followers can catch up,
// and never before the promise ends. A proven difference above StepThreshold begins a
// new timeline.
func (c *Sync) Steer(now timed.Instant, out []Effect) []Effect {
	t := c.sources
	if t == nil || !c.snap.own {
		return out
	}
	out = c.expire(now, out)
	st := &t.steer
	if !st.ready(now) {
		return out
	}
	if to, far := c.farOff(now); far {
		return c.step(now, to, out)
	}
	if now < st.due || c.line.Bend != 0 && now < c.line.Bend {
		return out
	}
	st.due = now.Add(steerEvery)
	line := c.line.straight(now)
	bend := timed.Later(now, c.promised)
	off := c.estimate(bend).Sub(line.At(bend))
	rate := c.within(st.rate + int64(off)/int64(steerTime/time.Second))
	if rate == line.Rate {
		return out
	}
	line.Bend, line.Next = bend, rate
	c.line = line
	c.follow()
	return out
}

// fastestLine is the largest rate of a line. A leader's MaxSlew may be larger than that of its
// followers.
const fastestLine = MaxSlewLimit / 2

// within limits the rate of this node's line.
func (c *Sync) within(rate int64) int64 { return min(max(rate, -c.cfg.MaxSlew/2), c.cfg.MaxSlew/2) }

// follow displays this node's line.
func (c *Sync) follow() {
	s, l := &c.snap, &c.line
	s.base, s.shown, s.slew, s.slewEnd, s.rest = l.Base, l.Shown, l.Rate, l.Base, l.Rate
	if l.Bend != 0 {
		s.slewEnd, s.rest = l.Bend, l.Next
	}
	s.seen, s.middle, s.half, s.rate, s.bend, s.next = l.Base, l.Shown, 0, l.Rate, l.Bend, l.Next
}

// estimate returns the best guess at UTC within the proven interval.
func (c *Sync) estimate(at timed.Instant) Time {
	t := c.sources.steer.at(at)
	if u := &c.snap.utc; u.state == UTCKnown {
		i := u.project(at, c.snap.rho)
		t = min(max(t, i.low), i.high)
	}
	return t
}

// farOff reports whether group time is provably wrong by more than StepThreshold, and
// returns the time to step to.
func (c *Sync) farOff(now timed.Instant) (to Time, far bool) {
	u := &c.snap.utc
	if u.state != UTCKnown {
		return 0, false
	}
	i, shown := u.project(now, c.snap.rho), c.line.At(now)
	to = c.estimate(now)
	return to, (shown < i.low || shown > i.high) && to.Sub(shown).Abs() > c.cfg.StepThreshold
}

// step begins a new timeline of this node at a time.
func (c *Sync) step(now timed.Instant, to Time, out []Effect) []Effect {
	shown := c.line.At(now)
	id := c.lead(now, to)
	return append(out, Effect{Kind: Stepped, Timeline: id, Parent: c.line.Parent, Step: to.Sub(shown)})
}

// lead begins a timeline of this node that shows the given time at now.
func (c *Sync) lead(now timed.Instant, shown Time) TimelineID {
	parent := c.snap.id
	c.sequence++
	id := TimelineID{Leader: c.cfg.Self.Node, Boot: c.cfg.Self.Boot, Sequence: c.sequence}
	c.line = Line{Timeline: id, Parent: parent, Base: now, Shown: shown}
	if t := c.sources; t != nil {
		c.line.Rate = c.within(t.steer.rate)
	}
	c.follow()
	c.snap.own, c.snap.known, c.snap.id, c.snap.until, c.promised = true, true, id, now, now
	return id
}
