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

// scale returns d(1+ppb·10⁻⁹), rounded down.
func scale(d, ppb int64) int64 {
	if uint64(d) < 1<<43 { // the products fit
		if uint64(ppb) < 1<<20 {
			return d + int64(uint64(d)*uint64(ppb)/1e9)
		}
		if uint64(-ppb) < 1<<20 {
			return d - int64((uint64(d)*uint64(-ppb)+1e9-1)/1e9)
		}
	}
	q, r := d/1e9, d%1e9
	x := r * ppb
	y := x / 1e9
	if x%1e9 < 0 {
		y--
	}
	return d + q*ppb + y
}

// when returns the first true time at which the clock shows h or later.
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
	if c.rate < -plainRate || c.rate > plainRate { // beyond any ρ
		hi, lo := bits.Mul64(uint64(max(d, 0)), 1e9)
		lo, carry := bits.Add64(lo, uint64(1e9+c.rate-1), 0)
		t, _ := bits.Div64(hi+carry, lo, uint64(1e9+c.rate))
		return c.base + int64(t)
	}
	// 1/(1+r) = 1 − r + r² − …; two terms are right to within a nanosecond
	// or so for what we schedule, and the loops below make it exact.
	first := mulPPB(d, c.rate)
	t := c.base + d - first + mulPPB(first, c.rate)
	for c.show(t) >= h && t > c.base {
		t--
	}
	for c.show(t) < h {
		t++
	}
	return t
}

func mulPPB(d, ppb int64) int64 {
	if uint64(d) < 1<<43 && uint64(ppb+1<<20) < 1<<21 { // the product fits
		return d * ppb / 1e9
	}
	q, r := d/1e9, d%1e9
	return q*ppb + r*ppb/1e9
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
	stopped = -1e9
	// plainRate bounds the rates for which two terms of the series are enough.
	plainRate = 1 << 20
)
