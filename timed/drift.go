package timed

import (
	"fmt"
	"time"
)

// Drift is ρ, the bound on a hardware clock's rate error, in parts per
// billion: |dt/dH − 1| ≤ ρ. A local duration d therefore lasts between d(1−ρ)
// and d(1+ρ) of real time, exactly.
type Drift int64

// MaxDrift is the largest ρ that the arithmetic of this package accepts: one
// percent. It keeps every intermediate product within 64 bits and the neglected
// terms of order ρ³ below the rounding error.
const MaxDrift Drift = 10_000_000

const billion = 1_000_000_000

// Validate returns an error unless ρ lies in [0, MaxDrift].
func (r Drift) Validate() error {
	if r < 0 || r > MaxDrift {
		return fmt.Errorf("drift of %d ppb is outside [0, %d]", int64(r), int64(MaxDrift))
	}
	return nil
}

// slack returns ⌈|d|·ppb/10⁹⌉. It splits the division so that long durations do
// not overflow the product.
func slack(d time.Duration, ppb int64) time.Duration {
	if d < 0 {
		d = -d
	}
	if d < 0 { // the smallest duration has no positive counterpart
		d--
	}
	if uint64(d) < 1<<43 && uint64(ppb) < 1<<20 { // the product fits: two hours, a thousand ppm
		return time.Duration((uint64(d)*uint64(ppb) + billion - 1) / billion)
	}
	q, rem := int64(d)/billion, int64(d)%billion
	p := rem * ppb
	s := p / billion
	if p%billion != 0 {
		s++
	}
	return time.Duration(q*ppb + s)
}

// Slack returns ⌈k·ρ·|d|⌉, the error in a duration d if k clocks drift in the
// same direction.
func (r Drift) Slack(d time.Duration, k int64) time.Duration { return slack(d, k*int64(r)) }

// Lower returns a lower bound of the real time that corresponds to a local
// difference d: d(1−ρ) for d ≥ 0 and d(1+ρ) for d < 0, rounded down. It is g()
// of the delay bound.
func (r Drift) Lower(d time.Duration) time.Duration { return d - slack(d, int64(r)) }

// Upper returns an upper bound of the real time that corresponds to a local
// difference d: d(1+ρ) for d ≥ 0 and d(1−ρ) for d < 0, rounded up. It also
// converts a real duration to the largest local one, except for terms of order
// ρ²; use [Drift.Wait] where those matter.
func (r Drift) Upper(d time.Duration) time.Duration { return d + slack(d, int64(r)) }

// Granule is γ, the bound on a hardware clock's granularity: a reading differs by less
// than γ from a clock that keeps ρ. No setting lowers it, because a node does not know
// the granularity of its peers' clocks, and because even 1 µs costs a lease next to nothing.
const Granule = time.Microsecond

// Trust returns how long this clock may rely on a promise of d made on another clock:
// d(1−2ρ)−3γ, rounded down. At most three readings make the promise too long: the one
// that it is counted from, the one that shows its end, and a stamp that runs ahead.
func (r Drift) Trust(d time.Duration) time.Duration { return d - slack(d, 2*int64(r)) - 3*Granule }

// cover returns the shortest promise that can be relied on for at least d:
// ⌈(d+3γ)/(1−2ρ)⌉, the inverse of [Drift.Trust].
func (r Drift) cover(d time.Duration) time.Duration {
	c := d + slack(d, 2*int64(r))
	for r.Trust(c) < d {
		c += max(1, d-r.Trust(c))
	}
	return c
}

// Wait returns how long this clock must wait until a duration d has certainly
// passed on another clock: d(1+2ρ+3ρ²), rounded up, an upper bound of
// d(1+ρ)/(1−ρ).
func (r Drift) Wait(d time.Duration) time.Duration {
	second := 3 * uint64(r) * uint64(r)
	return d + slack(d, 2*int64(r)+int64((second+billion-1)/billion))
}
