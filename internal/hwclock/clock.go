package hwclock

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/timed"
)

// Reading is one reading of the hardware clock.
type Reading struct {
	// Now is H, in nanoseconds since an origin that lasts until the next boot
	// of the machine.
	Now timed.Instant
	// Asleep is D, the total time for which the machine has been suspended, as
	// the smallest value measured in this era.
	Asleep time.Duration
	// Era counts the suspends that were detected since the Clock was created.
	// Claims that rest on time measured in another era are void, because some
	// hardware measures sleep coarsely.
	Era uint32
}

// Clock is the hardware clock of this machine. It is safe for concurrent use;
// no method takes a lock, and none allocates, except once per detected suspend.
// Make one with [New].
type Clock struct {
	src  source
	read func() (raw, monotonic, boottime int64) // of src
	era  atomic.Pointer[era]
}

// New returns the hardware clock of this machine. It fails when the system does not let
// this process read the clocks that H is composed of. Several Clocks agree on H, but
// each counts suspends by itself, so a process should share one.
func New() (*Clock, error) {
	src, err := systemSource()
	if err != nil {
		return nil, fmt.Errorf("hwclock: %w", err)
	}
	return newClock(src), nil
}

func newClock(src source) *Clock {
	c := &Clock{src: src, read: together(src)}
	c.era.Store(newEra(0, compose(src).asleep))
	return c
}

// Read reads the hardware clock. Now lies between the true values of H at the beginning
// and at the end of the call, so successive readings of any goroutines never run
// backwards. (Now may exceed the value at the end by the system's slewing during the
// few nanoseconds between two of the readings.)
//
// A suspend that is over before Read begins is included in Era, if it was longer than
// about a microsecond more than the duration of the reading.
//
// Read panics if a system clock that [New] could read becomes unreadable, because no
// returned time would be safe.
func (c *Clock) Read() Reading {
	for { // again only after a suspend during the reading
		e := c.era.Load()
		now, ok := c.awake(e)
		if !ok {
			now = compose(c.src)
		}
		if !ok && e.slept(now) {
			next := newEra(e.number+1, now.asleep)
			if c.era.CompareAndSwap(e, next) {
				return Reading{Now: now.now, Asleep: now.asleep, Era: next.number}
			}
			continue
		}
		asleep := e.lower(now.asleep)
		if c.era.Load() == e {
			return Reading{Now: now.now, Asleep: asleep, Era: e.number}
		}
	}
}

// awake reads the clocks once, in the order of compose. It succeeds if D is at most slack
// above the smallest one of the era. Then the machine has not slept, and nothing needs the
// second RAW, which bounds by how much D may be too large: H is at least its true value at
// the reading of RAW, and at most that at the reading of BOOTTIME.
func (c *Clock) awake(e *era) (now composed, ok bool) {
	r, m, b := c.read()
	return composed{now: timed.Instant(r + b - m), asleep: time.Duration(b - m)}, b-m-int64(slack) <= e.floor.Load()
}

// Now returns H, as [Clock.Read] does.
func (c *Clock) Now() timed.Instant { return c.Read().Now }
