package fault

import (
	"time"

	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// fault draws one fault of the classes that are on.
func (f *swarm) fault() {
	if f.on[ClassWander] {
		f.out = append(f.out, Fault{At: f.now, Kind: Wander, Node: f.anyNode(), Rate: f.clockRate()})
	}
	if len(f.kinds) == 0 {
		return // the parameters leave out all classes of the seed
	}
	k := f.kinds[f.rand.Below(int64(len(f.kinds)))]
	x := Fault{At: f.now, Kind: k, Node: f.anyNode()}
	if k == Rival || k == Clone {
		if f.rivals++; f.rivals > mostRivals {
			return
		}
	}
	if k.OfLinks() {
		x.Peer = f.anyNode()
		if x.Peer == x.Node {
			x.Peer = f.all.Without(x.Node).Min()
		}
		if x.Peer == 0 {
			return // a world of one node has no links
		}
	}
	if !f.rand.Chance(0.25) {
		x.For = f.span(0.1*float64(f.Timing.FastThreshold), 30*float64(f.Timing.Expires))
	}
	switch k.Class() {
	case ClassLoss, ClassLate, ClassReorder, ClassDuplicate, ClassReplay, ClassCorrupt, ClassForge, ClassSocket, ClassClog, ClassFlap, ClassAsymmetry:
		f.ofLinks(&x)
	case ClassSplit, ClassOneWay:
		f.ofTopology(&x)
	case ClassBrokenClock:
		f.ofClock(&x)
	default:
		f.ofProcess(&x)
	}
	f.out = append(f.out, x)
}

// span draws a time whose logarithm is uniform.
func (f *swarm) span(lo, hi float64) time.Duration {
	return time.Duration(f.rand.LogUniform(max(lo, 1), max(hi, 2)))
}

func (f *swarm) clockRate() float64 {
	return float64(hardware.DrawRate(f.clocks, f.Timing.MaxDrift))
}

func (f *swarm) ofLinks(x *Fault) {
	s, t := f.rand, &f.Timing
	if x.Kind.OfLinks() && x.Kind != Slow && x.Kind != Clog && x.Kind != Flap && x.Kind != BlackHole && s.Chance(0.7) {
		x.Node, x.Peer, x.For = 0, 0, 0 // everywhere
	}
	switch x.Kind {
	case Loss:
		x.Rate, x.Size = f.loss, f.burst
	case Late:
		x.Rate, x.Extra = f.lateRate, f.lateMax
	case Reorder, Duplicate:
		x.Rate = f.lateRate
	case Replay:
		x.Rate, x.Extra = f.lateRate/2, 3*time.Second
	case Slow:
		x.Extra = time.Duration(s.Unit() * 4 * float64(t.FastThreshold))
	case Clog:
		x.For = f.span(float64(t.FastThreshold), 10*float64(t.Expires))
	case Flap:
		x.Extra = max(2, time.Duration(s.LogUniform(0.5, 2)*float64(t.LockTime)))
	case BlackHole:
		x.Size = int(s.Between(120, 400))
	case Corrupt, Truncate, Forge, Foreign, SocketError:
		x.Rate = f.oddRate
	}
}

func (f *swarm) ofTopology(x *Fault) {
	s := f.rand
	switch x.Kind {
	case Cut:
		if s.Chance(0.5) { // both ways: connectivity is not transitive
			f.out = append(f.out, *x)
			x.Node, x.Peer = x.Peer, x.Node
		}
	case Split, SlowSplit:
		id := x.Node
		x.Node = 0
		if s.Below(4) == 0 {
			x.Blocks = []timed.Set{timed.SetOf(id), f.all.Without(id)}
		} else {
			x.Blocks = f.blocks()
			if s.Chance(0.2) { // a bridge
				for i := range x.Blocks {
					x.Blocks[i].Add(id)
				}
			}
		}
		if x.Kind == SlowSplit {
			x.Extra = f.slower()
		}
	}
}

func (f *swarm) ofProcess(x *Fault) {
	t := &f.Timing
	expires := float64(t.Expires)
	switch x.Kind {
	case SlowProcess:
		x.Extra = time.Duration(f.rand.LogUniform(0.1, 5) * float64(t.SchedulingDelay))
	case Stall:
		x.For = f.span(0.01*expires, 5*expires)
	case Suspend:
		x.For = f.span(0.01*float64(t.LockTime), 10*float64(t.LockTime))
	case Crash, Reboot:
		x.For = f.span(0.01*expires, f.reboot*expires)
	case CrashAll:
		x.Node, x.For = 0, f.span(0.01*expires, f.reboot*expires)
	case Wander:
		x.Rate = f.clockRate()
	case Rival, Clone:
		x.For = f.span(expires, 20*expires)
	}
}

func (f *swarm) ofClock(x *Fault) {
	s, t := f.rand, &f.Timing
	x.For = f.span(float64(t.Expires), 20*float64(t.Expires))
	switch x.Kind {
	case ClockRate:
		x.Rate = min(maxRate, s.LogUniform(2, 1000)*float64(t.MaxDrift))
		if s.Chance(0.5) {
			x.Rate = -x.Rate
		}
	case ClockJump:
		x.Extra, x.For = f.span(1e4, 10*float64(t.LockTime)), 0
		if s.Chance(0.5) {
			x.Extra = -x.Extra
		}
	}
}
