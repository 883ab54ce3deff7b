package campaign

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// varyLeap has a leap second, which some servers take late. A minority of the servers does not
// announce it, announces another, is a second off behind it, or lies as it likes. Nodes crash and
// are cut off around it.
func varyLeap(seed uint64, o *sim.Options) {
	c, s := choices(seed-1), random.New(seed, random.Servers)
	c.modes(o)
	o.Nodes = 1 + c.next(5)
	falsetickers := int(s.Between(0, 2))
	n := int(s.Between(int64(2*falsetickers+1), 7))
	leap := &fault.LeapSecond{At: 3*clocksync.LeapMargin/2 + time.Duration(s.Unit()*float64(clocksync.LeapMargin)), Kind: fault.Leap(1 + c.next(2))}
	list := fault.Servers{MinReferences: 2*falsetickers + 1, Leap: leap}
	for i := range n {
		x := patientServer(s)
		x.Announces = leap.Kind
		x.Bias = time.Duration((2*s.Unit() - 1) * float64(x.Error))
		if s.Chance(0.5) {
			x.Lag = time.Duration(s.Unit() * 0.9 * float64(clocksync.LeapMargin))
		}
		for id := 1; id <= o.Nodes; id++ {
			if x.Nodes.Empty() || s.Chance(0.5) {
				x.Nodes.Add(timed.NodeID(id))
			}
		}
		if i < falsetickers {
			missLeap(s, &x, leap)
		}
		list.List = append(list.List, x)
	}
	o.Servers = &list
	o.Duration = leap.At + 2*clocksync.LeapMargin
	o.Faults = nil
	for range s.Between(0, 8) {
		f := fault.Fault{At: leap.At + time.Duration((2*s.Unit()-1)*1.2*float64(clocksync.LeapMargin)), For: time.Duration(s.LogUniform(1e9, 3e11)),
			Kind: fault.Crash, Node: timed.NodeID(1 + s.Below(int64(o.Nodes)))}
		if s.Chance(0.4) {
			f.Kind, f.Blocks, f.Node = fault.Split, []timed.Set{timed.SetOf(f.Node)}, 0
		}
		o.Faults = append(o.Faults, f)
	}
}

// missLeap makes a server a falseticker around the leap second.
func missLeap(s random.Stream, x *fault.Server, leap *fault.LeapSecond) {
	switch s.Below(4) {
	case 0:
		x.Announces = fault.NoLeap
	case 1:
		x.Announces = fault.LeapInsert + fault.LeapDelete - leap.Kind
	case 2:
		x.Shift, x.From, x.Until = time.Second, leap.At, fault.MaxDuration
	default:
		x.Shift, x.Until = time.Duration(float64(1-2*s.Below(2))*s.LogUniform(1e6, 1e12)), fault.MaxDuration
	}
}
