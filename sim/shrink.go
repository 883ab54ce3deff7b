package sim

import (
	"context"
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// ShrinkOptions bound a search for a smaller case.
type ShrinkOptions struct {
	// MaxRuns is how many runs the search may take. Default 20,000.
	MaxRuns int
	// Progress, if not nil, is told of every smaller case: how many runs were
	// taken so far, and how many faults and nodes are left.
	Progress func(runs, faults, nodes int)
}

const defaultShrinkRuns = 20_000

// Shrink looks for a smaller case that breaks the same promise: shorter, with
// fewer faults, fewer nodes, and rounder numbers. It returns the smallest that
// it found, at worst c itself, and how many runs it took; it stops when ctx is
// done. The error says that c cannot be run, breaks nothing, or had not broken
// anything when ctx was done.
func Shrink(ctx context.Context, c Case, o ShrinkOptions) (Case, int, error) {
	if o.MaxRuns == 0 {
		o.MaxRuns = defaultShrinkRuns
	}
	s := shrinker{ctx: ctx, opt: o, best: c}
	r, err := c.RunContext(ctx)
	if err != nil {
		return c, 0, err
	}
	if r.Violation == nil {
		if err := ctx.Err(); err != nil {
			return c, 1, err
		}
		return c, 1, ErrNoViolation
	}
	s.runs, s.first = 1, r.Violation
	s.keep(c, r.Violation)
	for before := -1; before != s.kept && s.goesOn(); {
		before = s.kept
		s.fewerFaults()
		s.fewerNodes()
		s.simpler()
	}
	return s.best, s.runs, nil
}

// ErrNoViolation says that a case breaks no promise, so that there is nothing to
// shrink.
var ErrNoViolation = constError("sim: the case breaks no promise")

type constError string

func (e constError) Error() string { return string(e) }

// shrinker searches greedily: whatever is smaller and still fails is the new
// best.
type shrinker struct {
	ctx   context.Context
	opt   ShrinkOptions
	best  Case
	first *Violation
	runs  int
	kept  int
}

func (s *shrinker) goesOn() bool { return s.runs < s.opt.MaxRuns && s.ctx.Err() == nil }

// try runs a candidate and keeps it if it breaks the same promise.
func (s *shrinker) try(c Case) bool {
	if !s.goesOn() {
		return false
	}
	s.runs++
	r, err := c.RunContext(s.ctx)
	if err != nil || r.Violation == nil || !r.Violation.like(s.first) {
		return false
	}
	s.keep(c, r.Violation)
	return true
}

// like reports whether two violations are of the same promise; panics also have
// to say the same.
func (v *Violation) like(u *Violation) bool {
	return v.Check == u.Check && (v.Check != panicCheck || v.Detail == u.Detail)
}

// keep makes a failing case the best, and cuts off what comes after its end.
func (s *shrinker) keep(c Case, v *Violation) {
	c.Check, c.Detail = v.Check, v.Detail
	end := v.At + time.Millisecond
	if end < c.Options.Duration {
		c.Options.Duration = end
	}
	c.Schedule.Faults = slices.Clone(c.Schedule.Faults)
	if i := slices.IndexFunc(c.Schedule.Faults, func(f Fault) bool { return f.At > end }); i >= 0 {
		c.Schedule.Faults = c.Schedule.Faults[:i]
	}
	s.best = c
	s.kept++
	if s.opt.Progress != nil {
		s.opt.Progress(s.runs, len(c.Schedule.Faults), c.Options.Nodes)
	}
}

// with returns the best case with other faults.
func (s *shrinker) with(faults []Fault) Case {
	c := s.best
	c.Schedule.Faults = faults
	return c
}

// fewerFaults leaves out as many faults at once as it can: halves first, then
// smaller and smaller pieces (delta debugging).
func (s *shrinker) fewerFaults() {
	for size := max(1, len(s.best.Schedule.Faults)/2); s.goesOn(); size /= 2 {
		// From the end: what comes late is more often of no use.
		for end := len(s.best.Schedule.Faults); end > 0 && s.goesOn(); {
			f := s.best.Schedule.Faults
			end = min(end, len(f))
			start := max(0, end-size)
			s.try(s.with(slices.Concat(f[:start], f[end:])))
			end = start
		}
		if size == 1 {
			return
		}
	}
}

// fewerNodes leaves out one node at a time, with the faults that name it; the
// nodes above it move down.
func (s *shrinker) fewerNodes() {
	for id := timed.NodeID(s.best.Options.Nodes); id >= 1 && s.goesOn(); id-- {
		if s.best.Options.Nodes == 1 {
			return
		}
		c := s.best
		c.Options.Nodes--
		c.Schedule.Traffic = c.Schedule.Traffic.without(id)
		c.Schedule.Servers = c.Schedule.Servers.without(id)
		c.Schedule.Faults = nil
		for _, f := range s.best.Schedule.Faults {
			if f.Node != id && f.Peer != id {
				c.Schedule.Faults = append(c.Schedule.Faults, f.without(id))
			}
		}
		s.try(c)
	}
}

// moved returns the id of a node when another one is gone.
func moved(x, gone timed.NodeID) timed.NodeID {
	if x > gone {
		x--
	}
	return x
}

// without returns a set of nodes when one is gone.
func without(s timed.Set, gone timed.NodeID) (out timed.Set) {
	for x := range s.Without(gone).All() {
		out.Add(moved(x, gone))
	}
	return out
}

// without returns the fault in a world that lacks a node which it does not name
// as its own.
func (f Fault) without(id timed.NodeID) Fault {
	down := func(x timed.NodeID) timed.NodeID { return moved(x, id) }
	set := func(s timed.Set) timed.Set { return without(s, id) }
	f.Node, f.Peer, f.Down = down(f.Node), down(f.Peer), set(f.Down)
	blocks := f.Blocks
	f.Blocks = nil
	for _, b := range blocks {
		if b = set(b); !b.Empty() {
			f.Blocks = append(f.Blocks, b)
		}
	}
	return f
}

// simpler tries rounder numbers: certain instead of likely, no bursts, shorter
// and rounder times, plain weather.
func (s *shrinker) simpler() {
	for i := 0; i < len(s.best.Schedule.Faults); i++ {
		for _, change := range simplifications {
			if i >= len(s.best.Schedule.Faults) || !s.goesOn() {
				return
			}
			faults := slices.Clone(s.best.Schedule.Faults)
			f := faults[i]
			change(&f)
			if same(&f, &faults[i]) {
				continue
			}
			faults[i] = f
			slices.SortStableFunc(faults, func(a, b Fault) int { return int(a.At - b.At) })
			s.try(s.with(faults))
		}
	}
	s.simplerTraffic()
	s.fewerServers()
	for _, change := range plainer {
		c := s.best
		change(&c)
		if c.Schedule.Weather != s.best.Schedule.Weather || c.Options.Codec != s.best.Options.Codec {
			s.try(c)
		}
	}
}

func same(a, b *Fault) bool {
	return a.At == b.At && a.For == b.For && a.Rate == b.Rate && a.Extra == b.Extra && a.Size == b.Size
}

var simplifications = []func(*Fault){
	func(f *Fault) {
		if faultShapes[f.Kind].link && f.Rate > 0 {
			f.Rate = 1
		}
	},
	func(f *Fault) { f.Size = min(f.Size, 0) },
	func(f *Fault) {
		if f.Kind != Heal {
			f.For /= 2
		}
	},
	func(f *Fault) { f.For = round(f.For, 1) },
	func(f *Fault) { f.At = round(f.At, 1) },
	func(f *Fault) { f.At = round(f.At, 2) },
	func(f *Fault) { f.At = round(f.At, 3) },
	func(f *Fault) { f.Extra = round(f.Extra, 1) },
	func(f *Fault) { f.Down = timed.Set{} },
}

var plainer = []func(*Case){
	func(c *Case) { c.Schedule.Weather.Lateness = 0 },
	func(c *Case) { c.Schedule.Weather.MinDelay = c.Schedule.Weather.MaxDelay },
	func(c *Case) {
		w := &c.Schedule.Weather
		w.MinDelay, w.MaxDelay = round(w.MinDelay, 1), round(w.MaxDelay, 1)
	},
	func(c *Case) { c.Options.Codec = false },
}

// round keeps so many decimal digits of a time, from the left.
func round(d time.Duration, digits int) time.Duration {
	unit := time.Duration(1)
	for limit := pow10(digits); d/unit >= limit; unit *= 10 {
	}
	return d / unit * unit
}

func pow10(n int) time.Duration {
	p := time.Duration(1)
	for range n {
		p *= 10
	}
	return p
}
