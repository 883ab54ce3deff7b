package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/diagram"
)

// Windows of diagrams, in units of Expires: the time before a violation, and the
// length for other runs.
const (
	beforeViolation = 6
	withoutWindow   = 10
)

// draw draws the run, or the shrunk one.
func (s *simRun) draw(ctx context.Context) error {
	f, c := s.flags, s.found
	if f.diagram == "" || c == nil {
		return nil
	}
	broken, err := s.brokenBy(ctx, c)
	if err != nil {
		return err
	}
	from, to := s.span(c, broken)
	rec, err := c.Record(ctx, from, to)
	if err != nil {
		return fmt.Errorf("--diagram: %w", err)
	}
	switch {
	case rec.From >= rec.To && ctx.Err() != nil:
		return nil // interrupted before anything could be drawn
	case rec.From >= rec.To:
		return fmt.Errorf("--diagram: nothing is left to draw: the run ends after %v", rec.To)
	case rec.Truncated:
		fmt.Fprintf(s.err, "failaware-lab: --diagram: more than %d messages: the rest is missing; choose a shorter time by --from and --to\n", sim.MaxRecorded)
	}
	r := diagram.Of(rec, broken)
	r.Title, r.Subtitle = title(c, broken), subtitle(c, r.Subtitle)
	var opt diagram.Options
	if broken != nil { // claims of that time last longer
		opt.From, opt.To = r.From, r.To+c.Options.Timing.Expires
	}
	if err := writeFile(f.diagram, func(w io.Writer) error { return diagram.Render(w, r, opt) }); err != nil {
		return fmt.Errorf("--diagram: %w", err)
	}
	s.result.Diagram = f.diagram
	fmt.Fprintf(s.err, "diagram: %s, %v to %v\n", f.diagram, from, min(to, rec.To))
	return nil
}

// brokenBy returns the violation of the case. A shrunk case has its own.
func (s *simRun) brokenBy(ctx context.Context, c *sim.Case) (*sim.Violation, error) {
	if s.result.Shrunk == nil {
		return s.broken, nil
	}
	r, err := c.RunContext(ctx)
	if err == nil && r.Violation == nil {
		err = errors.New("--diagram: interrupted")
	}
	return r.Violation, err
}

// span returns the true time to draw.
func (s *simRun) span(c *sim.Case, broken *sim.Violation) (from, to time.Duration) {
	f, expires := s.flags, c.Options.Timing.Expires
	length := withoutWindow * expires
	from, to = 0, length
	if broken != nil {
		length = beforeViolation * expires
		from, to = max(0, broken.At-length), broken.At+1
	}
	switch {
	case f.given("from") && f.given("to"):
		return f.from, f.to
	case f.given("from"):
		return f.from, f.from + length
	case f.given("to"):
		return max(0, f.to-length), f.to
	}
	return from, to
}

func title(c *sim.Case, broken *sim.Violation) string {
	text := c.Note
	if text == "" {
		text = fmt.Sprintf("Seed %d", c.Seed)
		if broken != nil {
			text += fmt.Sprintf(": %s is broken at node %d", broken.Check, broken.Node)
		}
	}
	return text
}

func subtitle(c *sim.Case, more string) string {
	o, w, preset := &c.Options, &c.Schedule.Baseline, c.Preset()
	text := fmt.Sprintf("%d nodes, mode %v, rank %v, timing %s, delays %s to %s", o.Nodes, o.Mode, o.RankBy, preset,
		cli.Brief(w.MinDelay), cli.Brief(w.MaxDelay))
	if more != "" {
		text += "; " + more
	}
	return text
}
