// Package random draws the random numbers of simulated runs. Each concern of a
// run has a stream of its own, split from the seed, so that a change of one
// concern leaves the others as they were.
package random

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"
)

// The streams of a run. A concern with one stream for each of several things
// adds their number in the bits from 8 on.
const (
	Network uint64 = iota + 1
	Clocks
	Processes
	Faults
	Boots
	Topology
	Rates
	Apps
	Traffic
	Servers
	Exchanges
	Quorum
	Seasons
	Tails
	Wander
	Epochs
	Walls
	Settings
	Shared
	Restless
	Preempted
)

// Stream is a source of random numbers. A copy continues the same stream.
type Stream struct{ pcg *rand.PCG }

// New returns the stream with a name of the run with a seed.
func New(seed, name uint64) Stream {
	return Stream{rand.NewPCG(seed, name*0x9e3779b97f4a7c15+0x5851f42d4c957f2d)}
}

// Uint64 returns a number of 64 random bits.
func (s Stream) Uint64() uint64 { return s.pcg.Uint64() }

// Below returns a number in [0, n), for n > 0.
func (s Stream) Below(n int64) int64 {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int64(hi)
}

// Between returns a number in [lo, hi], or lo if hi is smaller.
func (s Stream) Between(lo, hi int64) int64 {
	if hi <= lo {
		return lo
	}
	return lo + s.Below(hi-lo+1)
}

// Unit returns a number in [0, 1).
func (s Stream) Unit() float64 { return float64(s.pcg.Uint64()>>11) / (1 << 53) }

// Chance returns true with probability p. It draws nothing if p is 0.
func (s Stream) Chance(p float64) bool { return p > 0 && s.Unit() < p }

// Exponential returns a number of the exponential distribution with mean 1, like the
// times between random events.
func (s Stream) Exponential() float64 { return -math.Log(1 - s.Unit()) }

// LogUniform returns a number in [lo, hi) whose logarithm is uniform.
func (s Stream) LogUniform(lo, hi float64) float64 {
	return lo * math.Exp(s.Unit()*math.Log(hi/lo))
}

// Normal returns a number of the standard normal distribution.
func (s Stream) Normal() float64 {
	return math.Sqrt(2*s.Exponential()) * math.Cos(2*math.Pi*s.Unit())
}

const (
	// MaxIndex bounds the index of a heavy tail: from 1 on a tail has no mean.
	MaxIndex = 0.9
	// maxTail is the largest delay that [Stream.Tail] returns.
	maxTail = float64(10 * time.Second)
)

// heavyTails is the share of tails that are not exponential.
const heavyTails = 0.5

// Index draws the heaviness of a tail, for [Stream.Tailed].
func (s Stream) Index() float64 {
	if s.Chance(heavyTails) {
		return s.Unit() * MaxIndex
	}
	return 0
}

// Tailed returns a number with mean 1: of the exponential distribution if index
// is 0, else of the Pareto distribution of shape 1/index that begins at 0. From an
// index of ½ on its variance is infinite.
func (s Stream) Tailed(index float64) float64 {
	if index <= 0 {
		return s.Exponential()
	}
	return (1/index - 1) * (math.Pow(1-s.Unit(), -index) - 1)
}

// Tail returns a delay in nanoseconds with a mean, distributed as [Stream.Tailed],
// of at most ten seconds.
func (s Stream) Tail(mean, index float64) int64 {
	return int64(min(mean*s.Tailed(index), maxTail))
}
