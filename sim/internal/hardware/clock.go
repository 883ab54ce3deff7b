// Package hardware models the hardware clocks of simulated machines as functions of true
// time.
package hardware

import (
	"math"
	"math/bits"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/timed"
)

// Clock is a hardware clock: a line over true time, which may bend. True times are in
// nanoseconds.
type Clock struct {
	base int64         // true time of the last bend
	at   timed.Instant // the reading there
	rate int64         // dH/dt − 1, in parts per billion
	res  int64         // readings are multiples of it, if it is above 1
}

const (
	// Forever is later than all true times: when a stopped clock shows a later reading.
	Forever = math.MaxInt64
	// Stopped is the rate of a clock that stands still.
	Stopped = -billion

	billion = 1_000_000_000
)

// New returns a clock that shows the reading at at true time t, with a rate in parts per
// billion.
func New(t int64, at timed.Instant, rate int64) *Clock { return &Clock{t, at, rate, 0} }

// Rounded sets the resolution of the clock, which then rounds readings down, and returns the
// clock.
func (c *Clock) Rounded(to time.Duration) *Clock {
	c.res = int64(to)
	return c
}

// Rate returns the present rate, in parts per billion.
func (c *Clock) Rate() int64 { return c.rate }

// Show returns the reading at true time t, which is not before the last bend.
func (c *Clock) Show(t int64) timed.Instant {
	h := c.exact(t)
	if c.res > 1 {
		h -= h % timed.Instant(c.res)
	}
	return h
}

// exact returns the reading of a clock without a resolution.
func (c *Clock) exact(t int64) timed.Instant { return c.at + timed.Instant(scale(t-c.base, c.rate)) }

// Bend changes the rate at true time t.
func (c *Clock) Bend(t, rate int64) { c.at, c.base, c.rate = c.exact(t), t, rate }

// Jump moves the reading at true time t.
func (c *Clock) Jump(t int64, by time.Duration) {
	c.Bend(t, c.rate)
	c.at = c.at.Add(by)
}

// scale returns d(1+ppb·10⁻⁹), rounded down, for |ppb| < 10⁹.
func scale(d, ppb int64) int64 {
	// If the product fits, divide it as an unsigned number, shifted up by a multiple
	// of the divisor: rounding a signed quotient down would branch by its sign, which
	// changes from clock to clock.
	const up = 1<<63/billion + 1
	if uint64(d) < 1<<43 && uint64(ppb+1<<20) < 1<<21 {
		return d + int64((uint64(d*ppb)+up*billion)/billion) - up
	}
	return scaleFar(d, ppb)
}

func scaleFar(d, ppb int64) int64 {
	q, r := d/billion, d%billion
	x := r * ppb
	y := x / billion
	if x%billion < 0 {
		y--
	}
	return d + q*ppb + y
}

// When returns the first true time at which the clock shows h or later, if its rate
// stays the same: the least t with (t − base)(10⁹ + rate) ≥ (h − at)·10⁹.
func (c *Clock) When(h timed.Instant) int64 {
	if h == timed.Never {
		return Forever
	}
	if c.res > 1 {
		if h += timed.Instant(c.res) - 1; h < 0 {
			return Forever
		}
		h -= h % timed.Instant(c.res)
	}
	if c.rate == Stopped {
		if h <= c.at {
			return c.base
		}
		return Forever
	}
	d := int64(h - c.at)
	if d < 0 {
		hi, lo := bits.Mul64(uint64(-d), billion)
		q, _ := bits.Div64(hi, lo, uint64(billion+c.rate))
		return c.base - int64(q)
	}
	hi, lo := bits.Mul64(uint64(d), billion)
	q, rest := bits.Div64(hi, lo, uint64(billion+c.rate))
	if rest != 0 {
		q++
	}
	return c.base + int64(q)
}

// Fastest returns the largest rate at which |dt/dH − 1| ≤ ρ.
func Fastest(rho timed.Drift) int64 {
	r := int64(rho)
	return int64(float64(r) / (1 - float64(r)/1e9))
}

// Slowest returns the smallest rate at which |dt/dH − 1| ≤ ρ.
func Slowest(rho timed.Drift) int64 {
	r := int64(rho)
	return -int64(float64(r) / (1 + float64(r)/1e9))
}

// Within returns the rate within ρ that is nearest to a rate.
func Within(rate int64, rho timed.Drift) int64 { return min(max(rate, Slowest(rho)), Fastest(rho)) }

// DrawRate draws a rate within ρ. Half of the rates are the extremes.
func DrawRate(s random.Stream, rho timed.Drift) int64 {
	lo, hi := Slowest(rho), Fastest(rho)
	switch s.Below(4) {
	case 0:
		return lo
	case 1:
		return hi
	}
	return s.Between(lo, hi)
}
