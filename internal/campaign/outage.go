package campaign

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// outageSettles is the time in which the nodes of a calm world elect a leader that hears all
// servers.
const outageSettles = 2 * time.Minute

// patientServer draws a server that is asked seldom, as in worlds that last for long.
func patientServer(s random.Stream) fault.Server {
	return fault.Server{Every: time.Duration(s.LogUniform(2, 30) * float64(time.Second)), Burst: 4,
		Delay: time.Duration(s.LogUniform(20e3, 20e6)), Error: time.Duration(s.LogUniform(1e3, 5e6))}
}

// varyOutage has servers, of which a minority lies from the start, that fall silent for longer
// than references count. One returns before the others: often a falseticker.
func varyOutage(seed uint64, o *sim.Options) {
	c, s := choices(seed-1), random.New(seed, random.Servers)
	c.modes(o)
	o.Nodes = 1 + c.next(5)
	n := int(s.Between(3, 7))
	falsetickers := int(s.Between(1, int64(n-1)/2))
	list := fault.Servers{MinReferences: int(s.Between(1, 3)), Settled: outageSettles}
	silent := outageSettles + time.Duration(s.Unit()*float64(time.Minute))
	back := silent + clocksync.SampleLife + 2*time.Minute
	for i := range n {
		x := patientServer(s)
		x.Nodes = timed.SetOf(timed.NodeID(1 + s.Below(int64(o.Nodes))))
		x.Silent = silent + time.Duration(s.Unit()*float64(time.Minute))
		x.Back = back + time.Duration(s.Unit()*float64(clocksync.SampleLife))
		x.Bias = time.Duration((2*s.Unit() - 1) * float64(x.Error))
		if i < falsetickers {
			x.Until = fault.MaxDuration
			x.Shift = time.Duration(float64(1-2*s.Below(2)) * s.LogUniform(1e7, 2e12))
			if i > 0 && s.Chance(0.5) { // they have one source
				x.Shift = list.List[i-1].Shift
			}
		}
		list.List = append(list.List, x)
	}
	o.Servers = &list
	o.Duration = back + clocksync.SampleLife + 3*time.Minute
}
