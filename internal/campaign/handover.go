package campaign

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// varyHandover has servers that several nodes ask, of which a minority lies from the start. When
// one leader has heard all of them, nodes crash one after the other, so that the next leader often
// knows falsetickers only. In a quarter of the worlds they come back, and another one crashes when
// they lead as soon as they may, before they have followed anybody. In half of the worlds a leap
// second comes meanwhile, which falsetickers do not take, and around which the others are silent.
func varyHandover(seed uint64, o *sim.Options) {
	c, s := choices(seed-1), random.New(seed, random.Servers)
	c.modes(o)
	o.Nodes = 2 + c.next(4)
	n := int(s.Between(3, 7))
	falsetickers := int(s.Between(1, int64(n-1)/2))
	list := fault.Servers{MinReferences: 1, Settled: outageSettles}
	if s.Chance(0.5) {
		at := outageSettles + 2*clocksync.LeapMargin + time.Duration(s.Unit()*float64(time.Minute))
		list.Leap = &fault.LeapSecond{At: at, Kind: fault.Leap(1 + s.Below(2))}
	}
	for i := range n {
		x := patientServer(s)
		x.Bias = time.Duration((2*s.Unit() - 1) * float64(x.Error))
		for x.Nodes.Empty() || s.Chance(0.3) {
			x.Nodes.Add(timed.NodeID(1 + s.Below(int64(o.Nodes))))
		}
		if i < falsetickers {
			x.Until = fault.MaxDuration
			x.Shift = time.Duration(float64(1-2*s.Below(2)) * s.LogUniform(1e8, 2e12))
		}
		if list.Leap != nil {
			silentLeap(s, &x, list.Leap, i < falsetickers)
		}
		list.List = append(list.List, x)
	}
	o.Servers = &list
	o.Faults = nil
	if o.Nodes > 2 && s.Chance(0.5) {
		returnToLead(s, o)
		return
	}
	at, first := outageSettles, s.Below(int64(o.Nodes))
	for k := range s.Between(1, int64(o.Nodes)-1) {
		at += time.Duration(s.LogUniform(6e10, 1e12))
		o.Faults = append(o.Faults, fault.Fault{At: at, For: fault.MaxDuration - at, Kind: fault.Crash, Node: timed.NodeID(1 + (first+k)%int64(o.Nodes))})
	}
	o.Duration = max(at+time.Minute, outageSettles+2*clocksync.LeapMargin+2*clocksync.SampleLife)
}

// returnToLead has nodes crash one after the other, each about when the one before returns. Two at
// most are down or new, so that the others know who has proved UTC.
func returnToLead(s random.Stream, o *sim.Options) {
	wait := o.Timing.MaxDrift.Wait(o.Timing.MaxLockTime)
	end := outageSettles + 2*clocksync.LeapMargin + 2*clocksync.SampleLife
	for at := outageSettles; at < end-time.Minute; at += time.Duration(s.LogUniform(1e11, 3e11)) {
		first, away := s.Below(int64(o.Nodes)), time.Duration(s.LogUniform(1e9, 3e10))
		second := at + away + wait + time.Duration((2*s.Unit()-1)*float64(o.Timing.Expires))
		o.Faults = append(o.Faults,
			fault.Fault{At: at, For: away, Kind: fault.Crash, Node: timed.NodeID(1 + first)},
			fault.Fault{At: second, For: away, Kind: fault.Crash, Node: timed.NodeID(1 + (first+1+s.Below(int64(o.Nodes)-1))%int64(o.Nodes))})
	}
	o.Duration = end
}

// silentLeap has a server be silent around a leap second or, if it is a falseticker, go on as if
// there were none.
func silentLeap(s random.Stream, x *fault.Server, leap *fault.LeapSecond, falseticker bool) {
	if !falseticker {
		x.Announces = leap.Kind
		x.Silent = leap.At - time.Duration(s.Unit()*float64(clocksync.LeapMargin))
		x.Back = leap.At + clocksync.LeapMargin + time.Duration(s.Unit()*float64(clocksync.SampleLife))
		return
	}
	x.From, x.Shift = leap.At, time.Second
	if leap.Kind == fault.LeapDelete {
		x.Shift = -time.Second
	}
}
