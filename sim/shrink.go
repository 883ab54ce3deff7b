package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// ShrinkOptions bound a search for a smaller case.
type ShrinkOptions struct {
	// MaxRuns is the number of runs that the search may take. Default 20,000.
	MaxRuns int
	// Progress, if not nil, is called with every smaller case: the number of runs so
	// far, and of the faults and nodes that are left.
	Progress func(runs, faults, nodes int)
}

const defaultShrinkRuns = 20_000

// Shrink searches for a smaller case that breaks the same promise: shorter, with
// fewer faults, fewer nodes, and rounder numbers. It returns the smallest case that it
// found, at worst c itself, and the number of runs. It stops when ctx is done. The
// error says that c cannot be run, breaks nothing, or had not broken anything when ctx
// was done.
func Shrink(ctx context.Context, c Case, o ShrinkOptions) (Case, int, error) {
	if o.MaxRuns == 0 {
		o.MaxRuns = defaultShrinkRuns
	}
	c.Options.contained = true
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
	for before := -1; before != s.kept && s.continues(); {
		before = s.kept
		s.fewerFaults()
		s.fewerNodes()
		s.simplerFaults()
		s.simplerTraffic()
		s.fewerServers()
		s.plainer()
	}
	return s.best, s.runs, nil
}

// ErrNoViolation says that a case breaks no promise: there is nothing to shrink.
var ErrNoViolation = errors.New("sim: the case breaks no promise")

// shrinker searches greedily: every smaller case that still fails is the new best.
type shrinker struct {
	ctx   context.Context
	opt   ShrinkOptions
	best  Case
	first *Violation
	runs  int
	kept  int
}

func (s *shrinker) continues() bool { return s.runs < s.opt.MaxRuns && s.ctx.Err() == nil }

// try runs a candidate and keeps it if it breaks the same promise.
func (s *shrinker) try(c Case) bool {
	if !s.continues() {
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

// like reports whether two violations are of the same promise. Panics must also have
// the same message.
func (v *Violation) like(u *Violation) bool {
	return v.Check == u.Check && (v.Check != panicCheck || v.Detail == u.Detail)
}

// keep makes a failing case the best, and cuts off everything after its violation.
func (s *shrinker) keep(c Case, v *Violation) {
	c.cutAfter(v)
	s.best = c
	s.kept++
	if s.opt.Progress != nil {
		s.opt.Progress(s.runs, len(c.Schedule.Faults), c.Options.Nodes)
	}
}

// cutAfter notes the violation of a case, and cuts off everything after it.
func (c *Case) cutAfter(v *Violation) {
	c.Check, c.Detail = v.Check, v.Detail
	end := v.At + time.Millisecond
	c.Options.Duration = min(c.Options.Duration, end)
	c.Schedule.Faults = slices.Clone(c.Schedule.Faults)
	if i := slices.IndexFunc(c.Schedule.Faults, func(f fault.Fault) bool { return f.At > end }); i >= 0 {
		c.Schedule.Faults = c.Schedule.Faults[:i]
	}
}

// with returns the best case with other faults.
func (s *shrinker) with(faults []fault.Fault) Case {
	c := s.best
	c.Schedule.Faults = faults
	return c
}

// fewerFaults removes as many faults at once as possible: halves first, then smaller
// and smaller parts (delta debugging).
func (s *shrinker) fewerFaults() {
	for size := max(1, len(s.best.Schedule.Faults)/2); s.continues(); size /= 2 {
		// From the end: late faults are more often irrelevant.
		for end := len(s.best.Schedule.Faults); end > 0 && s.continues(); {
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

// fewerNodes removes one node after the other, with the faults that name it.
func (s *shrinker) fewerNodes() {
	for id := timed.NodeID(s.best.Options.Nodes); id >= 1 && s.best.Options.Nodes > 1 && s.continues(); id-- {
		c := s.best
		c.Options.Nodes--
		c.Schedule = c.Schedule.Without(id)
		s.try(c)
	}
}

func (s *shrinker) simplerFaults() {
	for i := 0; i < len(s.best.Schedule.Faults); i++ {
		for _, change := range fault.Simplifications {
			if i >= len(s.best.Schedule.Faults) || !s.continues() {
				return
			}
			f, changed := s.best.Schedule.Faults[i].Changed(change)
			if !changed {
				continue
			}
			faults := slices.Clone(s.best.Schedule.Faults)
			faults[i] = f
			fault.Sort(faults)
			s.try(s.with(faults))
		}
	}
}

// simplerTraffic repeats each change of the traffic while the case still fails.
func (s *shrinker) simplerTraffic() {
	for _, change := range fault.TrafficSimplifications {
		for s.best.Schedule.Traffic != nil && s.continues() {
			t := *s.best.Schedule.Traffic
			if !change(&t) {
				break
			}
			c := s.best
			c.Schedule.Traffic = &t
			if !s.try(c) {
				break
			}
		}
	}
}

// fewerServers removes the external references: all, or else one after the other.
func (s *shrinker) fewerServers() {
	if s.best.Schedule.Servers == nil {
		return
	}
	c := s.best
	c.Schedule.Servers = nil
	if s.try(c) {
		return
	}
	for i := len(s.best.Schedule.Servers.List) - 1; i >= 0 && s.continues(); i-- {
		c := s.best
		servers := *c.Schedule.Servers
		servers.List = slices.Delete(slices.Clone(servers.List), i, i+1)
		c.Schedule.Servers = &servers
		s.try(c)
	}
}

// plainer tries simpler baselines, and no wire format.
func (s *shrinker) plainer() {
	for i := range s.best.Schedule.Baseline.Plainer() {
		c := s.best
		c.Schedule.Baseline = c.Schedule.Baseline.Plainer()[i]
		if c.Schedule.Baseline != s.best.Schedule.Baseline {
			s.try(c)
		}
	}
	if c := s.best; c.Options.Codec {
		c.Options.Codec = false
		s.try(c)
	}
}
