package fault

import (
	"math"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// Swarm has the parameters of random schedules.
type Swarm struct {
	Nodes     int
	Duration  time.Duration
	Timing    timed.Timing
	Roughness float64 // scales the rates of all faults
	// Rest lengthens each stable period by up to this time, which is drawn.
	Rest    time.Duration
	Without []Class // classes that no schedule has
	// Calm leaves out all random faults. Faults are part of every schedule.
	Calm   bool
	Faults []Fault
	// BrokenClocks adds clocks that leave ρ. With Epochs there are no rivals and clones.
	BrokenClocks, Epochs bool
	// Shared adds faults of all nodes at once.
	Shared bool
	// Broadcast adds traffic. Config, if not nil, is the configuration of all nodes. Quiet
	// leaves out random messages. WrongWalls makes some wall clocks wrong.
	Broadcast, Quiet, WrongWalls bool
	Config                       *broadcast.Config
	// Servers are the external references of time. If the list is empty, every seed draws
	// one; if Servers is nil, one seed in ten does. NoServers leaves them out.
	Servers   *Servers
	NoServers bool
}

// swarm draws a schedule, which depends only on the seed and the parameters, never on the
// run: a schedule can be printed before it is run, changed, and run again.
type swarm struct {
	Swarm
	seed   uint64
	bounds timed.Bounds
	rand   random.Stream
	clocks random.Stream
	all    timed.Set
	on     [Classes]bool
	kinds  []Kind // of the classes that are on
	now    time.Duration
	out    []Fault

	loss, lateRate, oddRate float64
	lateMax                 time.Duration
	burst                   int
	rivals                  int
	pace                    float64 // mean time between faults, in units of Expires
	reboot                  float64 // longest time down, in units of Expires
}

// Draw returns the schedule of a seed.
func (p Swarm) Draw(seed uint64) Schedule {
	f := swarm{Swarm: p, seed: seed, rand: random.New(seed, random.Faults), clocks: random.New(seed, random.Rates)}
	f.bounds, _ = p.Timing.Validate()
	for i := range p.Nodes {
		f.all.Add(timed.NodeID(i + 1))
	}
	s := Schedule{Baseline: f.baseline()}
	if !p.Calm {
		f.classes()
		f.phases()
		f.seasons()
		if f.Shared {
			f.shared()
		}
	}
	if p.Broadcast {
		s.Traffic = f.traffic()
	}
	s.Servers = f.servers()
	s.Faults = append(f.out, p.Faults...)
	Sort(s.Faults)
	return s
}

func (f *swarm) baseline() Baseline {
	t, s := &f.Timing, f.rand
	most := min(1, s.LogUniform(0.02, 1.4)) * float64(t.OneWayTimeout) // one in twelve at the limit
	least := min(1, s.Unit()*1.1) * most
	return Baseline{
		MinDelay: max(t.MinDelay+100, time.Duration(least)),
		MaxDelay: max(t.MinDelay+100, time.Duration(most)),
		Lateness: time.Duration(min(1, s.Unit()*1.2) * 0.95 * float64(t.SchedulingDelay)),
	}
}

// Shares of seeds and of nodes.
const (
	rivalSeeds = 0.02 // have rivals, up to mostRivals
	cloneSeeds = 0.02 // have clones, up to mostRivals
	mostRivals = 3
	downNodes  = 0.2 // of the crashed nodes stay down while the world is stable
	blockSeeds = 0.6 // of stable periods have several blocks
	tailSeeds  = 0.3 // of those with late packets have links with tails
	warmNodes  = 0.3 // of nodes with wandering clocks have changes of temperature
)

// classes chooses the classes of the seed, and the rates of their faults.
func (f *swarm) classes() {
	s, r := f.rand, f.Roughness
	for c := range f.on[:ClassBurst] {
		f.on[c] = s.Chance(0.5)
	}
	f.on[ClassRival], f.on[ClassClone] = s.Chance(rivalSeeds), s.Chance(cloneSeeds)
	f.on[ClassBrokenClock] = f.BrokenClocks
	f.on[ClassResign] = true
	for _, c := range f.Without {
		f.on[c] = false
	}
	if f.Epochs {
		f.on[ClassRival], f.on[ClassClone] = false, false // each would have a vote
	}
	f.loss = min(0.6, s.Unit()*0.25*r)
	f.lateRate = min(0.5, s.Unit()*0.15*r)
	f.oddRate = min(0.5, s.LogUniform(0.002, 0.05)*r)
	f.lateMax = time.Duration(s.LogUniform(1, 100) * float64(f.Timing.FastThreshold))
	f.burst = int(s.Between(0, 1) * s.Between(2, 20))
	f.pace = s.LogUniform(0.3, 4) / max(r, 0.1)
	f.reboot = s.LogUniform(0.2, 10)
	for _, k := range drawn {
		if f.on[k.Class()] {
			f.kinds = append(f.kinds, k)
		}
	}
}

// drawn lists the kinds of faults of random worlds. The important ones are listed
// twice.
var drawn = []Kind{Loss, Loss, Late, Late, Reorder, Duplicate, Replay, Slow, Slow, Clog, Cut, Cut, Flap, Mute, Deaf,
	Split, Split, SlowSplit, SlowSplit, BlackHole, Corrupt, Truncate, Forge, Foreign, SocketError, SlowProcess, Stall, Stall,
	Suspend, Crash, Crash, Reboot, CrashAll, Rival, Clone, Resign, Wander, ClockRate, ClockJump, ClockStop}

// phases alternates periods of faults and stable periods.
func (f *swarm) phases() {
	expires := f.Timing.Expires
	least := f.stable()
	for f.now < f.Duration {
		rough := f.now + time.Duration((5+25*f.rand.Unit())*float64(expires))
		for {
			f.now += time.Duration(f.pace * float64(expires) * (0.05 + 2*f.rand.Unit()))
			if f.now >= min(rough, f.Duration) {
				break
			}
			f.fault()
		}
		f.now = rough
		if f.now+least > f.Duration {
			return
		}
		stable := least
		if f.Rest > 0 {
			stable += min(f.Duration-f.now-least, time.Duration(f.rand.Unit()*float64(f.Rest)))
		}
		f.heal(stable)
		f.now += stable
	}
}

// stable returns the length of a stable period: the promised bounds, and some time in which
// the promises must last.
func (f *swarm) stable() time.Duration {
	d := f.bounds.View + f.bounds.Rejoin + 4*f.Timing.Expires
	if f.Epochs { // a change ends first, and then the bounds begin again
		d += f.bounds.View + f.bounds.Rejoin + 2*f.Timing.MaxLockTime
	}
	return d
}

func (f *swarm) heal(stable time.Duration) {
	h := Fault{At: f.now, For: stable, Kind: Heal}
	for id := range f.all.All() {
		if f.rand.Chance(downNodes) {
			h.Down.Add(id)
		}
	}
	if h.Down == f.all {
		h.Down.Remove(f.all.Min())
	}
	if f.rand.Chance(blockSeeds) {
		h.Blocks = f.blocks()
		if f.rand.Chance(0.4) {
			h.Extra = f.slower()
		}
	}
	f.out = append(f.out, h)
}

// slower returns an extra delay that makes every message slower than Δ.
func (f *swarm) slower() time.Duration {
	return time.Duration((1.05 + f.rand.Unit()*5) * float64(f.Timing.FastThreshold))
}

// blocks splits the nodes into one to four random blocks.
func (f *swarm) blocks() []timed.Set {
	blocks := make([]timed.Set, f.rand.Between(1, 4))
	for id := range f.all.All() {
		blocks[f.rand.Below(int64(len(blocks)))].Add(id)
	}
	return slices.DeleteFunc(blocks, timed.Set.Empty)
}

func (f *swarm) anyNode() timed.NodeID { return timed.NodeID(1 + f.rand.Below(int64(f.Nodes))) }

// seasons draws slow and lasting changes: temperatures, and links whose delays have
// tails, each direction its own. It has its own random numbers, so that it does not
// change the other faults of a seed.
func (f *swarm) seasons() {
	s, most := random.New(f.seed, random.Seasons), float64(f.Duration)
	if f.on[ClassWander] {
		for id := range f.all.All() {
			if s.Chance(warmNodes) {
				f.out = append(f.out, f.temperature(s, id))
			}
		}
	}
	if f.on[ClassLate] && f.Nodes > 1 && s.Chance(tailSeeds) {
		for range s.Between(1, 4) {
			from := s.Between(1, int64(f.Nodes))
			to := s.Between(1, int64(f.Nodes)-1)
			if to >= from {
				to++
			}
			mean := s.LogUniform(0.01, 1) * float64(f.Timing.FastThreshold)
			f.out = append(f.out, Fault{At: time.Duration(s.Unit() * most), For: time.Duration(s.LogUniform(0.01, 1) * most), Kind: Tail,
				Node: timed.NodeID(from), Peer: timed.NodeID(to), Rate: s.Index(), Extra: time.Duration(mean)})
		}
	}
}

func (f *swarm) temperature(s random.Stream, id timed.NodeID) Fault {
	rho := f.Timing.MaxDrift
	reach := float64(hardware.Fastest(rho) - hardware.Slowest(rho))
	return Fault{At: time.Duration(s.Unit() * float64(f.Duration) / 2), For: time.Duration(s.LogUniform(5e9, 600e9)),
		Kind: Temperature, Node: id, Rate: math.Round((2*s.Unit() - 1) * reach)}
}
