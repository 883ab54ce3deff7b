package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/failaware/failaware/timed"
)

// Limits of heavy tails.
const (
	// maxIndex bounds the index of a tail: from 1 on there is no mean.
	maxIndex = 0.9
	// maxTail is where delays that are drawn from a tail are cut off.
	maxTail = float64(10 * time.Second)
)

// tailed draws a number whose mean is 1: exponential for an index of 0, and else of
// the Pareto distribution that begins at 0, of shape 1/index. From ½ on its variance is
// infinite.
func (s stream) tailed(index float64) float64 {
	if index <= 0 {
		return s.exponential()
	}
	return (1/index - 1) * (math.Pow(1-s.unit(), -index) - 1)
}

// tail draws a delay of a mean.
func (s stream) tail(mean, index float64) int64 {
	return int64(min(mean*s.tailed(index), maxTail))
}

// validTail reports an index that is none.
func validTail(index float64) error {
	if !(index >= 0 && index <= maxIndex) {
		return fmt.Errorf("the index %v of a tail is outside [0, %v]", index, maxIndex)
	}
	return nil
}

// Shares of seeds, and of nodes.
const (
	tailSeeds     = 0.3 // of those with late packets have links with tails
	warmNodes     = 0.3 // of those whose clocks wander get warmer for some time
	heavyTails    = 0.5 // are no exponentials
	tailedServers = 0.3
)

// index draws how heavy a tail is.
func (s stream) index() float64 {
	if s.chance(heavyTails) {
		return s.unit() * maxIndex
	}
	return 0
}

// seasons draws what changes slowly, or lasts: temperatures, and links whose delays
// have tails, each direction its own. It has its own random numbers, so that it does not
// change which other faults a seed has.
func (f *forecaster) seasons() {
	s, most := newStream(f.seed, streamSeasons), float64(f.opt.Duration)
	if f.on[ClassWander] {
		for id := range f.all.All() {
			if s.chance(warmNodes) {
				reach := float64(fastest(f.opt.Timing.MaxDrift) - slowest(f.opt.Timing.MaxDrift))
				f.out = append(f.out, Fault{At: time.Duration(s.unit() * most / 2), For: time.Duration(s.logUniform(5e9, 600e9)),
					Kind: Warm, Node: id, Rate: math.Round((2*s.unit() - 1) * reach)})
			}
		}
	}
	if f.on[ClassLate] && f.opt.Nodes > 1 && s.chance(tailSeeds) {
		for range s.between(1, 4) {
			from := s.between(1, int64(f.opt.Nodes))
			to := s.between(1, int64(f.opt.Nodes)-1)
			if to >= from {
				to++
			}
			mean := s.logUniform(0.01, 1) * float64(f.opt.Timing.FastThreshold)
			f.out = append(f.out, Fault{At: time.Duration(s.unit() * most), For: time.Duration(s.logUniform(0.01, 1) * most), Kind: Tail,
				Node: timed.NodeID(from), Peer: timed.NodeID(to), Rate: s.index(), Extra: time.Duration(mean)})
		}
	}
}
