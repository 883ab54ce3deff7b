package main

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim"
)

// campaignGC lets the heap of a campaign, a few megabytes, grow to several times the live
// data. With the default of 100 the collector runs hundreds of times a second, and slows
// down the other jobs.
const campaignGC = 800

// campaign runs seeds in parallel.
func (s *simRun) campaign(ctx context.Context) error {
	f := s.flags
	c := sim.Campaign{Options: s.opt, Make: s.optionsOf, Play: f.plays(), First: f.first, Seeds: f.seeds, Time: f.time, Jobs: f.jobs}
	switch {
	case f.one():
		c.First, c.Seeds = f.seed, 1
		if f.trace {
			s.opt.Trace = s.out
			c.Make = func(uint64) sim.Options { return s.opt }
		}
	case f.topologies > 0:
		c.Seeds = f.topologies
	case f.time > 0 && !f.given("seeds"):
		c.Seeds = 0
	}
	if !f.quiet {
		c.Progress = func(t sim.Tally) { s.progress(&t, c.Seeds) }
	}
	defer debug.SetGCPercent(debug.SetGCPercent(campaignGC))
	t, v, err := c.Run(ctx)
	if err != nil {
		return cli.WrongUsage(err)
	}
	s.result.Tally, s.broken = t, v
	if v != nil && f.plays() == nil {
		found, err := sim.CaseOf(v.Seed, s.optionsOf(v.Seed))
		if err != nil {
			return cli.WrongUsage(err)
		}
		found.Check, found.Detail = v.Check, v.Detail
		s.found = &found
	}
	return nil
}

// progress prints the progress of a campaign, which ends with its seeds or its time.
func (s *simRun) progress(t *sim.Tally, seeds uint64) {
	took := time.Since(s.began)
	left, of := time.Duration(math.MaxInt64), ""
	if s.flags.time > 0 {
		left = max(0, s.flags.time-took)
	}
	if seeds > 0 {
		of = fmt.Sprintf(" of %d", seeds)
		if t.Seeds > 0 {
			left = min(left, time.Duration(float64(took)*float64(seeds-t.Seeds)/float64(t.Seeds)))
		}
	}
	text := "some time"
	if left < math.MaxInt64 {
		text = left.Round(time.Second).String()
	}
	var faults uint64
	for _, n := range t.Faults {
		faults += n
	}
	fmt.Fprintf(s.err, "%s: %d%s seeds, %.0f simulated seconds, %.2f M events/s, %d faults, %d violations, %s left\n",
		s.label, t.Seeds, of, t.SimulatedSeconds, t.EventsPerSecond/1e6, faults, t.Violations, text)
}
