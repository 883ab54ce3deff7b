package hwclock

import (
	"sync/atomic"
	"time"
)

// era is the time between two suspends of the machine. Concurrent readers share it, and
// could fail in two ways. In both, a reader is delayed in the middle of a reading while
// the machine sleeps, and another reader notices the sleep. The delayed reader's old,
// small D must not become the new era's floor, or the same suspend would be noticed
// again. And it must not be reported with the new era, or values derived from it would
// count as fresh. So a reader loads the era before it reads the clocks, lowers only the
// floor of that era, and discards its reading if the era has changed.
type era struct {
	number uint32
	floor  atomic.Int64 // the smallest D seen in this era, in nanoseconds
}

// slack is how much longer than the smallest D of an era a D may be that proves no sleep.
const slack = time.Microsecond

func newEra(number uint32, asleep time.Duration) *era {
	e := &era{number: number}
	e.floor.Store(int64(asleep))
	return e
}

// lower records a D of this era and returns the smallest one so far. D is
// constant while the machine is awake and every measurement of it errs upwards,
// so the smallest is the best.
func (e *era) lower(asleep time.Duration) time.Duration {
	for {
		floor := e.floor.Load()
		if int64(asleep) >= floor {
			return time.Duration(floor)
		}
		if e.floor.CompareAndSwap(floor, int64(asleep)) {
			return asleep
		}
	}
}

// slept reports whether a reading proves that the machine was suspended in this
// era. D may be too large by the time between MONOTONIC and BOOTTIME, which
// is at most the gap on RAW; one tenth more covers the fastest slewing
// (83,333 ppm), and slack covers rounding.
func (e *era) slept(c composed) bool {
	return c.asleep-c.gap-c.gap/10-slack > time.Duration(e.floor.Load())
}
