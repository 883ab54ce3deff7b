package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// rounding covers what whole nanoseconds lose on the way from one clock's line
// to the other's: two divisions here, two at the leader, one in the middle.
const rounding = 5 * time.Nanosecond

// width returns half the width of the interval that contains group time, at
// now. It grows with the age of the evidence: the leader's clock may run 2ρ
// faster or slower than ours, and once its promise is over it may also slew as fast
// as it likes, while the middle goes on at the rate that was announced.
func (s *Snapshot) width(now timed.Instant, elapsed time.Duration) time.Duration {
	if s.own {
		return 0
	}
	half := s.half
	if elapsed < 0 {
		elapsed = -elapsed
	}
	// The line's own rate multiplies the drift; two parts in a thousand cover
	// every slew that is allowed.
	half += s.rho.Wait(elapsed+elapsed/512) - (elapsed + elapsed/512)
	if late := now.Sub(s.until); late > 0 {
		half += timed.Drift(s.maxSlew+s.follows()).Slack(late, 1)
	}
	return half + rounding
}

// follows returns the largest rate of the middle, either way. Which of its two rates
// counts when does not matter enough to find out.
func (s *Snapshot) follows() int64 {
	rate := max(s.rate, -s.rate)
	if s.bend != 0 {
		rate = max(rate, s.next, -s.next)
	}
	return rate
}
