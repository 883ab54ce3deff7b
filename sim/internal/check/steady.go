package check

import (
	"time"

	"github.com/failaware/failaware/clocksync"
)

// clockError is how far a process's group time was from the truth when the world became
// calm.
type clockError struct {
	since int64 // true time; 0: it follows none, or the world is not calm
	line  clocksync.TimelineID
	by    int64
}

// checkSteady demands that a clock in a calm world, which is off by diff, claims a deviation
// close to its error, and that the error shrinks. Without references all lines are straight.
//
// The leader's line comes once in each period, in a packet whose delay is known to within the
// delays of two timely packets. So the interval that contains group time is at most as wide as
// that and the drift until the next line. The deviation is at most half of this width, plus
// the distance to the middle of the interval; the error is at least that distance less half of
// the width. A clock that is off by more than half of the width moves to the middle as fast as
// it may slew, less the drift of both clocks.
func (c *Checker) checkSteady(n *Process, r *clocksync.Reading, diff int64) {
	a, t := &c.clockErrors[n.Index], &c.Timing
	if !c.Live.calm() || c.Servers != nil || r.Timeline.Leader == n.ID {
		*a = clockError{}
		return
	}
	wide := int64(t.LeastFast()-t.MinDelay+t.MaxDrift.Slack(t.Period()+t.SchedulingDelay+2*t.OneWayTimeout, 4)) + c.grain
	diff = max(diff, -diff)
	if int64(r.Deviation)-diff > wide {
		c.Fail("steady", n, "is off by %v and claims %v although the world has been still for %v: %v more would do",
			time.Duration(diff), r.Deviation, c.stillFor(), time.Duration(wide))
	}
	if a.since == 0 || a.line != r.Timeline {
		*a = clockError{c.Now, r.Timeline, diff}
	}
	slew, rho := float64(n.Slew)/1e9, float64(t.MaxDrift)/1e9
	gain := (1+slew)*(1-rho) - (1 + rho) // of a slow clock that follows a fast one
	if gain < 0 {
		return // the clock cannot slew as fast as hardware clocks drift apart
	}
	passed := c.Now - a.since
	made := int64(gain*float64(passed)) - 2*passed/int64(t.ElectionPeriod) // whole nanoseconds of each line
	if most := max(wide/2, a.by-made); diff > most+c.grain {
		c.Fail("steady", n, "is off by %v, and was by %v %v ago", time.Duration(diff), time.Duration(a.by), time.Duration(passed))
	}
}
