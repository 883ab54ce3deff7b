package loop

import (
	"time"

	"github.com/failaware/failaware/internal/histogram"
	"github.com/failaware/failaware/timed"
)

// turnClock is the time of the loop's turns.
type turnClock struct {
	now    timed.Instant // the reading of this turn
	era    uint32        // of the hardware clock: it counts suspends of the machine
	until  timed.Instant // the loop waits for packets until then
	served timed.Instant // when the stack last looked at its timers
	late   Lateness
}

// Lateness says how late the loop ran against its own timers.
type Lateness struct {
	Max     time.Duration // since the start
	Average time.Duration // exponentially weighted, over about 16 timers
	Last    time.Duration
	Timers  uint64 // how many were served
	Late    uint64 // how many of them later than allowed
	All     histogram.Durations
}

// measure notes how late the loop is for the end of its wait.
func (c *turnClock) measure(now timed.Instant, allowed time.Duration) {
	if now < c.until || c.until == timed.Never {
		return
	}
	l := &c.late
	l.Last = now.Sub(c.until)
	l.Timers++
	l.All.Note(l.Last)
	l.Max = max(l.Max, l.Last)
	l.Average += (l.Last - l.Average) / 16
	if l.Last > allowed {
		l.Late++
	}
}
