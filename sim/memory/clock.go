package memory

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/timed"
)

// Clock describes the error of a node's hardware clock.
type Clock struct {
	// Offset is by how much it is ahead at first, from 0 to [MaxOffset].
	Offset time.Duration
	// Drift is the error of its rate, in parts per billion: positive if it is fast.
	// It must be within Timing.MaxDrift of the node: 1/(1 + Drift) must
	// not differ from 1 by more.
	Drift int64
}

// MaxOffset is the largest [Clock.Offset].
const MaxOffset = 10_000 * time.Hour

// upTime is the first reading of a clock without an offset: the machine has already run for
// a while.
const upTime = time.Hour

// SetClock sets the hardware clock of a node that has not been started yet; it
// panics if the node has. Starting the node fails if the drift is beyond its
// Timing.MaxDrift.
func (n *Network) SetClock(id failaware.NodeID, c Clock) {
	checkNode("SetClock", id)
	if c.Offset < 0 || c.Offset > MaxOffset {
		panic(fmt.Sprintf("memory: SetClock: the offset %v is outside [0, %v]", c.Offset, MaxOffset))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.own[id].clock != nil {
		panic(fmt.Sprintf("memory: SetClock: the clock of node %v runs already", id))
	}
	n.own[id].set = &c
}

// startClock starts the clock of a machine, unless it runs. The caller holds n.mu.
func (n *Network) startClock(m *machine, r *transport.Request) error {
	limit := slowest(r.Timing.MaxDrift)
	c := m.clock
	if c == nil {
		set := m.set
		if set == nil {
			random := n.source(forClock, pair{from: r.ID})
			set = &Clock{Offset: time.Duration(random.Int64N(int64(MaxOffset))), Drift: limit - random.Int64N(2*limit+1)}
		}
		c = newClock(n.origin, set)
	}
	if c.drift > limit || c.drift < -limit {
		return fmt.Errorf("memory: the clock of node %v drifts by %d ppb, and Timing.MaxDrift = %d allows %d",
			r.ID, c.drift, int64(r.Timing.MaxDrift), limit)
	}
	m.clock = c
	return nil
}

// slowest returns the largest drift of a slow clock with |dt/dH − 1| ≤ ρ. That of a fast
// clock is slightly larger.
func slowest(rho timed.Drift) int64 { return int64(rho) * 1e9 / (1e9 + int64(rho)) }

// clock is a hardware clock. It is immutable, so that reading takes no lock.
type clock struct {
	base     int64 // its reading then
	drift    int64
	hardware *hwclock.Clock
}

func newClock(origin time.Time, set *Clock) *clock {
	c := &clock{base: int64(upTime + set.Offset), drift: set.Drift}
	c.hardware = hwclock.Of(func() int64 { return int64(c.at(int64(time.Since(origin)))) })
	return c
}

// at returns the reading at a time of the network. It never runs back: both parts of the
// drift are rounded towards zero.
func (c *clock) at(t int64) timed.Instant {
	return timed.Instant(c.base + t + t/1e9*c.drift + t%1e9*c.drift/1e9)
}

// longestWait bounds one wait, far from overflow.
const longestWait = time.Hour

// until returns the time of the network from now until the clock shows a later deadline.
// It may be wrong by a few nanoseconds.
func (c *clock) until(deadline, now timed.Instant) time.Duration {
	d := deadline.Sub(now)
	if d < 0 || d > longestWait { // d < 0 is an overflow
		d = longestWait
	}
	hi, lo := bits.Mul64(uint64(d), 1e9)
	wait, _ := bits.Div64(hi, lo, uint64(1e9+c.drift))
	return time.Duration(wait + 1)
}
