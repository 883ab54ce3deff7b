package sim

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/timed"
)

// Weather is how a world is while nothing is wrong with it. All of it is within
// what the constants of the model allow.
type Weather struct {
	MinDelay time.Duration // of every link; delays are uniform
	MaxDelay time.Duration // at most δ
	Lateness time.Duration // of every process, at most; below σ
}

// Schedule is all that happens to a world from outside: its weather, and its
// faults in the order of time.
type Schedule struct {
	Weather Weather
	Faults  []Fault
	Traffic *Traffic // nil without a broadcast
	Servers *Servers // nil without external references of time
}

// forecaster draws a schedule. It looks at nothing but the seed and the options,
// never at what the nodes do: so a schedule can be printed before it is run,
// changed, and run again.
type forecaster struct {
	opt    Options
	seed   uint64
	bounds timed.Bounds
	rand   random.Stream
	clocks random.Stream
	all    timed.Set
	on     [Classes]bool
	kinds  []FaultKind // of the classes that are on
	now    time.Duration
	out    []Fault

	loss, lateRate, oddRate float64
	lateMax                 time.Duration
	burst                   int
	rivals                  int
	pace                    float64 // mean time between faults, in units of Expires
	reboot                  float64 // longest time down, in units of Expires
}

// Draw returns the schedule that [Run] follows for a seed.
func Draw(seed uint64, opt Options) Schedule {
	opt = opt.withDefaults()
	f := forecaster{opt: opt, seed: seed, rand: random.New(seed, random.Faults), clocks: random.New(seed, random.Rates)}
	f.bounds, _ = opt.Timing.Validate()
	for i := range opt.Nodes {
		f.all.Add(timed.NodeID(i + 1))
	}
	s := Schedule{Weather: f.weather()}
	if !opt.Calm {
		f.classes()
		f.phases()
		f.seasons()
	}
	if opt.Broadcast != nil {
		s.Traffic = f.traffic()
	}
	s.Servers = f.servers()
	s.Faults = append(f.out, opt.Faults...)
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return int(a.At - b.At) })
	return s
}

func (f *forecaster) weather() Weather {
	t, s := &f.opt.Timing, f.rand
	most := min(1, s.LogUniform(0.02, 1.4)) * float64(t.OneWayTimeout) // one in twelve at the limit
	least := min(1, s.Unit()*1.1) * most
	return Weather{
		MinDelay: max(t.MinDelay+100, time.Duration(least)),
		MaxDelay: max(t.MinDelay+100, time.Duration(most)),
		Lateness: time.Duration(min(1, s.Unit()*1.2) * 0.95 * float64(t.SchedulingDelay)),
	}
}

// Shares of seeds, and of nodes.
const (
	rivalSeeds = 0.02 // have a second process with a used id, up to mostRivals times
	cloneSeeds = 0.02 // have a process that was cloned, as often
	mostRivals = 3
	downNodes  = 0.2 // of the crashed ones stay down while the world is still
	blockSeeds = 0.6 // of still periods have several blocks
)

// classes chooses the classes of the seed, and how hard they strike.
func (f *forecaster) classes() {
	s, r := f.rand, f.opt.Roughness
	for c := range f.on[:ClassBurst] {
		f.on[c] = s.Chance(0.5)
	}
	f.on[ClassRival], f.on[ClassClone] = s.Chance(rivalSeeds), s.Chance(cloneSeeds)
	f.on[ClassBrokenClock] = f.opt.BrokenClocks
	f.on[ClassResign] = true
	for _, c := range f.opt.Without {
		f.on[c] = false
	}
	if f.opt.Epochs {
		f.on[ClassRival], f.on[ClassClone] = false, false // each would have a vote
	}
	f.loss = min(0.6, s.Unit()*0.25*r)
	f.lateRate = min(0.5, s.Unit()*0.15*r)
	f.oddRate = min(0.5, s.LogUniform(0.002, 0.05)*r)
	f.lateMax = time.Duration(s.LogUniform(1, 100) * float64(f.opt.Timing.FastThreshold))
	f.burst = int(s.Between(0, 1) * s.Between(2, 20))
	f.pace = s.LogUniform(0.3, 4) / max(r, 0.1)
	f.reboot = s.LogUniform(0.2, 10)
	for _, k := range drawn {
		if f.on[faultShapes[k].class] {
			f.kinds = append(f.kinds, k)
		}
	}
}

// drawn lists the kinds of fault that random worlds have, those that matter most
// more than once.
var drawn = []FaultKind{Loss, Loss, Late, Late, Reorder, Duplicate, Replay, Slow, Slow, Clog, Cut, Cut, Flap, Mute, Deaf,
	Split, Split, SlowSplit, SlowSplit, BlackHole, Corrupt, Truncate, Forge, Foreign, SocketError, SlowProcess, Stall, Stall,
	Suspend, Crash, Crash, Reboot, CrashAll, Rival, Clone, Resign, Wander, ClockRate, ClockJump, ClockStop}

// phases lets rough times and still ones alternate.
func (f *forecaster) phases() {
	expires := f.opt.Timing.Expires
	still := f.still()
	for f.now < f.opt.Duration {
		rough := f.now + time.Duration((5+25*f.rand.Unit())*float64(expires))
		for {
			f.now += time.Duration(f.pace * float64(expires) * (0.05 + 2*f.rand.Unit()))
			if f.now >= min(rough, f.opt.Duration) {
				break
			}
			f.strike()
		}
		f.now = rough
		if f.now+still > f.opt.Duration {
			return
		}
		f.heal(still)
		f.now += still
	}
}

// still returns how long a still period takes: what is promised, and then some
// to see that it lasts.
func (f *forecaster) still() time.Duration {
	d := f.bounds.View + f.bounds.Rejoin + 4*f.opt.Timing.Expires
	if f.opt.Epochs { // a change comes to its end, and then all that again
		d += f.bounds.View + f.bounds.Rejoin + 2*f.opt.Timing.MaxLockTime
	}
	return d
}

func (f *forecaster) heal(still time.Duration) {
	h := Fault{At: f.now, For: still, Kind: Heal}
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

// slower returns what makes every message take longer than Δ.
func (f *forecaster) slower() time.Duration {
	return time.Duration((1.05 + f.rand.Unit()*5) * float64(f.opt.Timing.FastThreshold))
}

// blocks splits the nodes into one to four random blocks; now and then one node
// is a bridge.
func (f *forecaster) blocks() []timed.Set {
	blocks := make([]timed.Set, f.rand.Between(1, 4))
	for id := range f.all.All() {
		blocks[f.rand.Below(int64(len(blocks)))].Add(id)
	}
	return slices.DeleteFunc(blocks, timed.Set.Empty)
}

func (f *forecaster) anyNode() timed.NodeID {
	return timed.NodeID(1 + f.rand.Below(int64(f.opt.Nodes)))
}
