package exhaust

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// world has the constants of a path: the timing, the clocks' rates, and the machines that
// states are loaded into.
type world struct {
	opt    Options
	root   Root
	bounds timed.Bounds
	grain  int64   // of a tick, in nanoseconds
	step   []int64 // by id: by how much a clock moves in a tick
	delay  [fates]int64
	stall  int64 // how long a stall lasts, in ticks

	machines []*machine // by id
	newborn  map[timed.Incarnation]*image
	press    *press
	clocks   []timed.Instant
	out      []stack.Effect
}

// Root is where paths begin: a situation, and the rate of each clock, in parts
// per billion besides one.
type Root struct {
	Start Start   `json:"start"`
	Rates []int64 `json:"rates_ppb"`
}

func (r Root) String() string {
	s := fmt.Appendf(nil, "%s start, clocks at", r.Start)
	for _, ppb := range r.Rates {
		s = fmt.Appendf(s, " %+.4g", float64(ppb)/1000)
	}
	return string(s) + " ppm"
}

// fate is the fate of a message.
type fate uint8

const (
	inTime fate = iota
	late        // just above Δ, so that it is slow
	lost
	veryLate // after every lease, and after Expires
	fates
)

func (f fate) String() string { return [...]string{"in time", "late", "lost", "very late"}[f] }

// lettersOf returns the letters of fates.
func lettersOf(chosen []fate) string {
	letters := make([]byte, len(chosen))
	for i, f := range chosen {
		letters[i] = fateLetters[f]
	}
	return string(letters)
}

// fatesOf returns the fates of letters.
func fatesOf(letters string) []fate {
	chosen := make([]fate, len(letters))
	for i := range chosen {
		chosen[i] = fate(strings.IndexByte(fateLetters, letters[i]))
	}
	return chosen
}

// roots returns where the paths begin.
func roots(o Options) (out []Root) {
	fast, slow := extremes(o.Timing)
	var rates [][]int64
	switch o.Rates {
	case Nominal:
		rates = [][]int64{make([]int64, o.Nodes)}
	case Opposed:
		for _, first := range []int{0, 1} {
			r := make([]int64, o.Nodes)
			for i := range r {
				r[i] = []int64{fast, slow}[(i+first)%2]
			}
			rates = append(rates, r)
		}
	case Every:
		for list := range combinations(slices.Repeat([]int{3}, o.Nodes)) {
			r := make([]int64, o.Nodes)
			for i, k := range list {
				r[i] = []int64{fast, 0, slow}[k]
			}
			rates = append(rates, r)
		}
	}
	for _, s := range o.Starts {
		for _, r := range rates {
			out = append(out, Root{s, r})
		}
	}
	return out
}

// extremes returns the largest and smallest rates at which |dt/dH − 1| ≤ ρ that
// are whole nanoseconds a tick.
func extremes(t timed.Timing) (fast, slow int64) {
	grain, _ := grainOf(t)
	unit := int64(time.Second / gcd(grain, time.Second))
	rho := int64(t.MaxDrift)
	return rho / unit * unit, -(rho - rho*rho/int64(time.Second) - 1) / unit * unit
}

func gcd(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func newWorld(opt Options, root Root) *world {
	grain, _ := grainOf(opt.Timing)
	bounds, _ := opt.Timing.Validate()
	// Every delay is at least one tick, and the nodes know that: a bound then has
	// no slack in which a mistake could hide.
	opt.Timing.MinDelay = max(opt.Timing.MinDelay, grain)
	w := &world{opt: opt, root: root, bounds: bounds, grain: int64(grain), press: newPress(opt.Nodes), newborn: map[timed.Incarnation]*image{},
		step: make([]int64, opt.Nodes+1), machines: make([]*machine, opt.Nodes+1), clocks: make([]timed.Instant, opt.Nodes+1)}
	t := opt.Timing
	w.delay = [fates]int64{inTime: w.ticks(t.MinDelay), late: w.ticks(t.FastThreshold) + 1, veryLate: w.ticks(t.MaxDrift.Wait(t.MaxLockTime+t.Expires)) + 1}
	w.stall = w.ticks(t.MaxDrift.Wait(max(t.MaxLockTime, t.Expires))) + 1
	for id := 1; id <= opt.Nodes; id++ {
		w.step[id] = w.grain + w.grain*root.Rates[id-1]/int64(time.Second)
		w.machines[id] = newMachine(w.incarnate(timed.NodeID(id), 0, 0, 0), opt.Nodes)
	}
	return w
}

// ticks returns how many ticks cover a duration.
func (w *world) ticks(d time.Duration) int64 { return (int64(d) + w.grain - 1) / w.grain }

// since returns the duration of so many ticks.
func (w *world) since(ticks int64) time.Duration { return time.Duration(ticks * w.grain) }

// origins keep instants far from zero, which means "none", and the clocks of
// different nodes apart.
func origin(id timed.NodeID) timed.Instant {
	return timed.Instant(1000*time.Second) + timed.Instant(id)*timed.Instant(37*time.Second)
}

// show returns the reading of a node's clock at a tick.
func (w *world) show(id timed.NodeID, tick int64) timed.Instant {
	return origin(id) + timed.Instant(tick*w.step[id])
}

// at returns the readings of all clocks at a tick. It is valid until the next call.
func (w *world) at(tick int64) []timed.Instant {
	for id := 1; id < len(w.clocks); id++ {
		w.clocks[id] = w.show(timed.NodeID(id), tick)
	}
	return w.clocks
}

// truth returns the true time, in nanoseconds since tick 0, at which a clock
// shows h, rounded up.
func (w *world) truth(id timed.NodeID, h timed.Instant) int64 {
	if h == timed.Never {
		return forever
	}
	d := int64(h - origin(id))
	whole, rest := d/w.step[id], d%w.step[id]
	if rest < 0 {
		whole, rest = whole-1, rest+w.step[id]
	}
	return whole*w.grain + (rest*w.grain+w.step[id]-1)/w.step[id]
}

const forever = math.MaxInt64

// due returns the first tick at which a clock shows h or more.
func (w *world) due(id timed.NodeID, h timed.Instant) int64 {
	if h == timed.Never {
		return forever
	}
	return (int64(h-origin(id)) + w.step[id] - 1) / w.step[id]
}

// awry is the difference of a wall clock from group time, or from those of other nodes,
// at a start: more than a clock slews.
const awry = clocksync.Time(2 * clocksync.DefaultStepThreshold)

// incarnation returns the nth incarnation of a node, from 0.
func incarnation(id timed.NodeID, boots uint8) timed.Incarnation {
	return timed.Incarnation{Node: id, Boot: timed.BootID(id)<<8 | timed.BootID(boots)}
}

// born returns the image of a node that starts at a tick, when its wall clock
// shows wall: up to a shift of time it is always the same.
func (w *world) born(id timed.NodeID, boots uint8, tick int64, wall clocksync.Time) *image {
	self := incarnation(id, boots)
	img := w.newborn[self]
	if img == nil {
		img = newMachine(w.incarnate(id, boots, tick, wall), w.opt.Nodes).take(w.at(tick))
		w.newborn[self] = img
	}
	again := *img
	again.shown = wall
	return &again
}

// incarnate returns the stack of a node that starts at a tick for the nth time.
func (w *world) incarnate(id timed.NodeID, boots uint8, tick int64, wall clocksync.Time) *stack.Stack {
	var peers timed.Set
	for p := 1; p <= w.opt.Nodes; p++ {
		if timed.NodeID(p) != id {
			peers.Add(timed.NodeID(p))
		}
	}
	return stack.New(stack.Config{
		Self:  incarnation(id, boots),
		Group: 1, Timing: w.opt.Timing, Mode: w.opt.Mode, RankBy: w.opt.RankBy,
		MaxDeviation: clocksync.DefaultMaxDeviation, MaxSlew: clocksync.DefaultMaxSlew,
		StepThreshold: clocksync.DefaultStepThreshold,
		Newest:        wire.Oldest,
	}, peers, w.show(id, tick), wall)
}
