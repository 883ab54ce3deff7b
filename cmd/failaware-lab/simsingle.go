package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim"
)

// single runs one seed, or a case from a file.
func (s *simRun) single(ctx context.Context) error {
	c, err := s.asked()
	if err != nil {
		return cli.WrongUsage(err)
	}
	if s.flags.trace {
		c.Options.Trace = s.out
	}
	r, err := c.RunContext(ctx)
	if err != nil {
		return cli.WrongUsage(err)
	}
	c.Options.Trace = nil
	s.opt = c.Options
	s.result.Tally = sim.TallyOf(c.Options, time.Since(s.began), r)
	s.result.Never = nil // one run need not reach every situation
	s.result.Interrupted = r.Violation == nil && ctx.Err() != nil
	s.found, s.broken = &c, r.Violation
	s.compare(c.Check)
	c.Check, c.Detail = "", ""
	if v := r.Violation; v != nil {
		c.Check, c.Detail = v.Check, v.Detail
	}
	return nil
}

// asked returns the case that the flags choose.
func (s *simRun) asked() (sim.Case, error) {
	path := s.flags.replay
	if path == "" {
		return sim.CaseOf(s.flags.seed, s.optionsOf(s.flags.seed))
	}
	in, err := openInput(s.in, path)
	if err != nil {
		return sim.Case{}, fmt.Errorf("--replay: %w", err)
	}
	defer in.Close()
	c, err := sim.ReadCase(in)
	if err != nil {
		return c, fmt.Errorf("--replay: %s: %w", path, err)
	}
	return c, nil
}

// compare prints a message if a case from a file ends differently than recorded.
func (s *simRun) compare(recorded string) {
	now := ""
	if s.broken != nil {
		now = s.broken.Check
	}
	if s.flags.replay == "" || recorded == now || s.result.Interrupted {
		return
	}
	say := func(check string) string {
		if check == "" {
			return "no promise"
		}
		return check
	}
	fmt.Fprintf(s.err, "failaware-lab: the case was recorded as breaking %s; now it breaks %s\n", say(recorded), say(now))
}

// simShrunk is the result of the search for a smaller case.
type simShrunk struct {
	Runs    int      `json:"runs"`
	Nodes   int      `json:"nodes"`
	Seconds float64  `json:"seconds"`
	Faults  []string `json:"faults"`
}

// small shrinks the case if the flags say so, and saves it in a file.
func (s *simRun) small(ctx context.Context) error {
	f, c := s.flags, s.found
	switch {
	case c == nil:
		return nil
	case f.shrink && s.broken == nil && !s.result.Interrupted:
		fmt.Fprintln(s.err, "failaware-lab: --shrink: no promise was broken, so there is nothing to shrink")
	case f.shrink && s.broken != nil:
		if err := s.shrink(ctx); err != nil {
			return err
		}
	}
	if f.save == "" && (!f.shrink || s.broken == nil) {
		return nil
	}
	path, err := keep(f.save, s.found)
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	s.result.Case = path
	fmt.Fprintf(s.err, "case: %s\n", path)
	return nil
}

func (s *simRun) shrink(ctx context.Context) error {
	var o sim.ShrinkOptions
	faults := len(s.found.Schedule.Faults)
	if !s.flags.quiet {
		next := time.Now()
		o.Progress = func(runs, faults, nodes int) {
			if now := time.Now(); !now.Before(next) {
				next = now.Add(time.Second)
				fmt.Fprintf(s.err, "shrink: %d runs, %d faults and %d nodes left\n", runs, faults, nodes)
			}
		}
	}
	small, runs, err := sim.Shrink(ctx, *s.found, o)
	switch {
	case errors.Is(err, context.Canceled):
		return nil // keep the case unshrunk
	case err != nil:
		return fmt.Errorf("--shrink: %w", err)
	}
	shrunk := &simShrunk{Runs: runs, Nodes: small.Options.Nodes, Seconds: small.Options.Duration.Seconds(), Faults: []string{}}
	for _, x := range small.Schedule.Faults {
		shrunk.Faults = append(shrunk.Faults, x.String())
	}
	s.found, s.result.Shrunk = &small, shrunk
	if !s.flags.quiet {
		fmt.Fprintf(s.err, "shrink: after %d runs %d faults became %d, and %v are simulated: %s: %s\n",
			runs, faults, len(shrunk.Faults), small.Options.Duration, small.Check, small.Detail)
	}
	return nil
}

// keep writes a case to a new file. Without a name it chooses one in the current
// directory.
func keep(path string, c *sim.Case) (string, error) {
	if path != "" {
		return path, create(path, c)
	}
	for i := 1; ; i++ {
		path = fmt.Sprintf("case-%d.json", c.Seed)
		if i > 1 {
			path = fmt.Sprintf("case-%d-%d.json", c.Seed, i)
		}
		if err := create(path, c); !errors.Is(err, os.ErrExist) || i >= maxCaseNames {
			return path, err
		}
	}
}

// maxCaseNames bounds the attempts to find a free name.
const maxCaseNames = 1000

func create(path string, c *sim.Case) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(c.Write(file), file.Close())
}

// mayBeNew returns an error if a file exists or cannot be created.
func mayBeNew(flag, path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %s exists and is not overwritten", flag, path)
	}
	return hasDirectory(flag, path)
}

// hasDirectory returns an error if the directory of a file does not exist.
func hasDirectory(flag, path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	} else if !info.IsDir() {
		return fmt.Errorf("%s: %s is not a directory", flag, filepath.Dir(path))
	}
	return nil
}
