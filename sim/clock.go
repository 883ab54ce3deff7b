package sim

import (
	"math/bits"

	"github.com/failaware/failaware/timed"
)

// clock is a hardware clock as true time sees it: a line, bent now and then,
// whose rate stays within ρ.
type clock struct {
	base int64         // true time of the last bend
	at   timed.Instant // what the clock showed there
	rate int64         // dH/dt − 1, in parts per billion
}

// show returns what the clock shows at true time t ≥ base.
func (c *clock) show(t int64) timed.Instant {
	return c.at + timed.Instant(scale(t-c.base, c.rate))
}

// scale returns d(1+ppb·10⁻⁹), rounded down, for |ppb| < 10⁹.
func scale(d, ppb int64) int64 {
	// Where the product fits it is divided as an unsigned number, shifted up by
	// a multiple of the divisor: what rounds down a signed one would branch by
	// its sign, which changes from clock to clock.
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

const billion = 1_000_000_000

// when returns the first true time at which the clock shows h or later, at the
// rate of now: the least t with (t − base)(10⁹ + rate) ≥ (h − at)·10⁹.
func (c *clock) when(h timed.Instant) int64 {
	if h == timed.Never {
		return forever
	}
	if c.rate == stopped {
		if h <= c.at {
			return c.base
		}
		return forever
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

// bend changes the rate at true time t.
func (c *clock) bend(t, rate int64) {
	c.at, c.base, c.rate = c.show(t), t, rate
}

// fastest and slowest return the extreme rates at which |dt/dH − 1| ≤ ρ.
func fastest(rho timed.Drift) int64 {
	r := int64(rho)
	return int64(float64(r) / (1 - float64(r)/1e9))
}

func slowest(rho timed.Drift) int64 {
	r := int64(rho)
	return -int64(float64(r) / (1 + float64(r)/1e9))
}

const (
	forever = 1<<63 - 1
	// stopped is the rate of a clock that stands still.
	stopped = -billion
)
