package fault

import (
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim/internal/hardware"
)

// sharedPace is the mean time between two faults of all nodes, in units of Expires.
const sharedPace = 20

// shared draws faults that strike all nodes at once, as those of a busy host, of a closed
// laptop or of a common time server. It has its own random numbers, so that it does not
// change the other faults of a seed.
func (f *swarm) shared() {
	s := random.New(f.seed, random.Shared)
	expires, sigma := float64(f.Timing.Expires), float64(f.Timing.SchedulingDelay)
	kinds := []Kind{SlowProcess, Stall, Suspend, Wander}
	if f.BrokenClocks {
		kinds = append(kinds, ClockRate)
	}
	for at := 0.0; ; {
		at += s.Exponential() * sharedPace * expires
		if at >= float64(f.Duration) {
			return
		}
		x := Fault{At: time.Duration(at), Kind: kinds[s.Below(int64(len(kinds)))]}
		switch x.Kind {
		case SlowProcess:
			x.For, x.Extra = time.Duration(s.LogUniform(0.1, 30)*expires), time.Duration(s.LogUniform(0.1, 5)*sigma)
		case Stall, Suspend:
			x.For = time.Duration(s.LogUniform(0.01, 10) * expires)
		case Wander:
			x.Rate = float64(hardware.DrawRate(s, f.Timing.MaxDrift))
		case ClockRate: // up to the largest slew rate of chrony
			x.For, x.Rate = time.Duration(s.LogUniform(1, 30)*expires), (2*s.Unit()-1)*83_333_000
		}
		for id := range f.all.All() {
			x.Node = id
			f.out = append(f.out, x)
		}
	}
}
