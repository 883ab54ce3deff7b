package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// rounding covers the rounding to whole nanoseconds when one clock's line is mapped to
// the other clock: two divisions here, two at the leader, one for the middle.
const rounding = 5 * time.Nanosecond

// width returns half the width of the interval that contains group time at now. It grows
// with the distance from the evidence, before it as after it: the leader's clock may run
// 2ρ faster or slower than ours, and after its promise it may also slew at any rate that
// some leader is allowed, while the middle continues at the announced rate.
func (s *Snapshot) width(now timed.Instant, elapsed time.Duration) time.Duration {
	if s.own {
		return 0
	}
	half := s.half
	// The line's own rate multiplies the drift. Two parts in a thousand cover every
	// allowed slew.
	half += s.rho.Wait(elapsed+elapsed/512) - (elapsed + elapsed/512)
	if late := now.Sub(s.until); late > 0 {
		half += timed.Drift(fastestLine+s.follows()).Slack(late, 1)
	}
	return half + rounding
}

// follows returns the largest absolute rate of the middle. The difference between its two
// rates is too small to tell them apart.
func (s *Snapshot) follows() int64 {
	return max(s.rate, -s.rate, s.next, -s.next) // without a bend, next is 0
}
