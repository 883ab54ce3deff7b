package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// validTail reports an index that is none.
func validTail(index float64) error {
	if !(index >= 0 && index <= random.MaxIndex) {
		return fmt.Errorf("the index %v of a tail is outside [0, %v]", index, random.MaxIndex)
	}
	return nil
}

// Shares of seeds, and of nodes.
const (
	tailSeeds     = 0.3 // of those with late packets have links with tails
	warmNodes     = 0.3 // of those whose clocks wander get warmer for some time
	tailedServers = 0.3
)

// seasons draws what changes slowly, or lasts: temperatures, and links whose delays
// have tails, each direction its own. It has its own random numbers, so that it does not
// change which other faults a seed has.
func (f *forecaster) seasons() {
	s, most := random.New(f.seed, random.Seasons), float64(f.opt.Duration)
	if f.on[ClassWander] {
		for id := range f.all.All() {
			if s.Chance(warmNodes) {
				reach := float64(hardware.Fastest(f.opt.Timing.MaxDrift) - hardware.Slowest(f.opt.Timing.MaxDrift))
				f.out = append(f.out, Fault{At: time.Duration(s.Unit() * most / 2), For: time.Duration(s.LogUniform(5e9, 600e9)),
					Kind: Warm, Node: id, Rate: math.Round((2*s.Unit() - 1) * reach)})
			}
		}
	}
	if f.on[ClassLate] && f.opt.Nodes > 1 && s.Chance(tailSeeds) {
		for range s.Between(1, 4) {
			from := s.Between(1, int64(f.opt.Nodes))
			to := s.Between(1, int64(f.opt.Nodes)-1)
			if to >= from {
				to++
			}
			mean := s.LogUniform(0.01, 1) * float64(f.opt.Timing.FastThreshold)
			f.out = append(f.out, Fault{At: time.Duration(s.Unit() * most), For: time.Duration(s.LogUniform(0.01, 1) * most), Kind: Tail,
				Node: timed.NodeID(from), Peer: timed.NodeID(to), Rate: s.Index(), Extra: time.Duration(mean)})
		}
	}
}
