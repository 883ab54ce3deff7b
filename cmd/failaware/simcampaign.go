package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/failaware/failaware/sim"
)

// campaign runs seeds side by side and reports what they came to.
type campaign struct {
	flags *simFlags
	opt   sim.Options
	out   io.Writer
	err   io.Writer
	first uint64
	seeds uint64
	began time.Time
}

func (c *campaign) run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.began = time.Now()
	run := sim.Campaign{Options: c.opt, First: c.first, Seeds: c.seeds, Jobs: c.flags.jobs, Topologies: c.flags.topologies > 0}
	if !c.flags.quiet {
		run.Progress = c.progress
	}
	t, v, err := run.Run(ctx)
	if err != nil {
		return usageError(err)
	}
	return c.report(&t, v)
}

func (c *campaign) progress(t sim.Tally) {
	left := time.Duration(0)
	if t.Seeds > 0 {
		left = time.Since(c.began) * time.Duration(c.seeds-t.Seeds) / time.Duration(t.Seeds)
	}
	fmt.Fprintf(c.err, "sim: %d of %d seeds, %.0f simulated seconds, %.2f M events/s, %v left\n",
		t.Seeds, c.seeds, t.SimulatedSeconds, t.EventsPerSecond/1e6, left.Round(time.Second))
}

func (c *campaign) report(t *sim.Tally, v *sim.Violation) error {
	if c.flags.trace {
		fmt.Fprintf(c.out, "trace hash %s\n", t.Hash)
	}
	if v != nil {
		fmt.Fprintf(c.err, "failaware: %v\nreplay: %s\n", v, c.flags.replay(v.Seed))
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s\n", line)
	if v != nil {
		return silent(errViolation, 1)
	}
	if t.Interrupted {
		return silent(errors.New("interrupted"), 1)
	}
	return nil
}
