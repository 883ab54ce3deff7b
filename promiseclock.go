package failaware

import (
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/timed"
)

// promiseClock is the hardware clock since a promise was made. For a nil one, every promise
// has ended. It is safe for concurrent use.
type promiseClock struct {
	clock  *hwclock.Clock
	basis  loop.Basis
	latest atomic.Int64 // the latest reading that left used
	over   atomic.Bool
}

func newPromiseClock(clock *hwclock.Clock, b loop.Basis) *promiseClock {
	c := &promiseClock{clock: clock, basis: b}
	c.latest.Store(int64(b.Made))
	return c
}

// left returns how much time is left until an instant. Once the machine has slept, or the
// clock is not trusted any more, it returns 0 for ever, because the time that passed is unknown.
func (c *promiseClock) left(until timed.Instant) time.Duration {
	if until == 0 || c == nil || c.over.Load() {
		return 0
	}
	before := c.latest.Load()
	r, trusted := c.basis.Trust.Read(c.clock.Read)
	if r.Era != c.basis.Era || int64(r.Now) < before || !trusted {
		c.over.Store(true)
		return 0
	}
	for int64(r.Now) > before && !c.latest.CompareAndSwap(before, int64(r.Now)) {
		before = c.latest.Load()
	}
	return left(until, r.Now)
}
