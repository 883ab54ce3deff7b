package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/clocktrial"
)

// clockFlags are the flags of the command that measures clocks.
type clockFlags struct {
	scenarios []string
	seeds     int
	plot      string
}

// maxClockSeeds bounds the samples in memory.
const maxClockSeeds = 1000

func newSimClocksCommand() *cobra.Command {
	var f clockFlags
	var names []string
	for _, t := range clocktrial.All() {
		names = append(names, fmt.Sprintf("  %-17s  %s", t.Name, t.About))
	}
	cmd := &cobra.Command{
		Use:   "clocks",
		Short: "Measure how well clocks keep UTC in the simulator, and check every bound",
		Long: `Measure how well three nodes keep UTC in the simulator, and check every bound:

` + strings.Join(names, "\n") + `

  CONTAINED     share of the bounds on the distance from UTC that were true
  RMS, WORST    of the distance from UTC, after the first minute
  <1ms, <100us  beginning of the first minute in which all nodes were external and that close
  BOUND         on the distance from UTC: median, and 99th percentile
  DEVIATION     the bound on the distance from group time, likewise

Samples are taken at all nodes once a second. The exit code is 1 if a bound or another
promise was broken.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.scenarios, "scenario", nil, "scenarios to run (default all)")
	fl.IntVar(&f.seeds, "seeds", 3, "how many seeds of each")
	fl.StringVar(&f.plot, "plot", "", "file.svg for a picture of the errors and bounds of the first scenario's first seed")
	return cmd
}

// trials returns the chosen trials, or an error that names the wrong flag.
func (f *clockFlags) trials() ([]clocktrial.Trial, error) {
	if f.seeds < 1 || f.seeds > maxClockSeeds {
		return nil, cli.Wrong("--seeds: %d is outside [1, %d]", f.seeds, maxClockSeeds)
	}
	if err := checkPicture("plot", f.plot); err != nil {
		return nil, cli.WrongUsage(err)
	}
	if len(f.scenarios) == 0 {
		return clocktrial.All(), nil
	}
	var trials []clocktrial.Trial
	for _, name := range f.scenarios {
		t, err := clocktrial.Find(name)
		if err != nil {
			return nil, cli.Wrong("--scenario: %v", err)
		}
		trials = append(trials, t)
	}
	return trials, nil
}

func (f *clockFlags) run(cmd *cobra.Command) error {
	trials, err := f.trials()
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(cmd)
	defer stop()
	picture := clockPicture{trial: &trials[0]}
	results, err := measureClocks(ctx, trials, f.seeds, picture.take)
	if errors.Is(err, context.Canceled) {
		return cli.No(errors.New("sim clocks: interrupted"))
	}
	if err == nil && f.plot != "" {
		err = picture.write(f.plot)
	}
	if err != nil {
		return cli.WrongUsage(err)
	}
	if err := cli.Print(cmd, results, func(w io.Writer) error { return writeClocks(w, results) }); err != nil {
		return err
	}
	return tooSmall(cmd.ErrOrStderr(), results)
}

// tooSmall names the trials with bounds that were not true, and returns an error if there are any.
func tooSmall(w io.Writer, results []*clocktrial.Result) (err error) {
	for _, r := range results {
		if !r.Contained() {
			_, _ = fmt.Fprintf(w, "failaware-lab: %s: %d bounds were too small %s\n", r.Scenario, r.Outside, r.Violation)
			err = cli.Printed(errViolation)
		}
	}
	return err
}

// measureClocks runs trials in parallel. It calls each with the samples of the first
// trial's first seed.
func measureClocks(ctx context.Context, trials []clocktrial.Trial, seeds int, each func(*clocktrial.Sample)) ([]*clocktrial.Result, error) {
	results, errs := make([]*clocktrial.Result, len(trials)), make([]error, len(trials))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i := range trials {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			var tell func(*clocktrial.Sample)
			if i == 0 {
				tell = each
			}
			results[i], errs[i] = trials[i].Run(ctx, seeds, tell)
		})
	}
	wg.Wait()
	return results, errors.Join(errs...)
}

func writeClocks(w io.Writer, results []*clocktrial.Result) error {
	t := cli.NewTable(w)
	t.Row("SCENARIO", "SAMPLES", "CONTAINED", "RMS", "WORST", "<1ms", "<100us", "BOUND", "p99", "DEVIATION", "p99", "MONOTONE")
	after := func(ns *int64) string {
		if ns == nil {
			return "never"
		}
		return time.Duration(*ns).String()
	}
	for _, r := range results {
		share := "100%"
		if !r.Contained() {
			share = fmt.Sprintf("%d of %d", r.Bounded-r.Outside, r.Bounded)
		}
		t.Row(r.Scenario, r.Samples, share, cli.Brief(r.RMSNS), cli.Brief(r.WorstNS), after(r.Within1msNS), after(r.Within100usNS),
			cli.BriefUp(r.BoundP50NS), cli.BriefUp(r.BoundP99NS), cli.BriefUp(r.DeviationP50NS), cli.BriefUp(r.DeviationP99NS), cli.YesNo(r.Monotone))
	}
	return t.Flush()
}
