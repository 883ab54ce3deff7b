package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim/exhaust"
)

// exhaustFlags are the flags of the command that explores exhaustively.
type exhaustFlags struct {
	nodes, depth, faults, crashes, stalls int
	states                                int
	veryLate, noSuffix, quiet             bool
	starts                                *cli.Value[[]exhaust.Start]
	rates                                 *cli.Value[exhaust.Rates]
	modeFlags
	time   time.Duration
	replay string
}

func newExhaustCommand() *cobra.Command {
	f := exhaustFlags{starts: cli.NewValue("cold,led,apart,split,challenged", "list", cli.ListOf(exhaust.ParseStart)),
		rates: cli.NewValue("opposed", "rates", exhaust.ParseRates)}
	cmd := &cobra.Command{
		Use:   "exhaust",
		Short: "Explore everything that can happen to a few nodes, up to a bound",
		Long: `Explore every behaviour of one to four nodes up to a bound: each message is in time,
late or lost, and simultaneous events happen in every order. Every promise is
checked in every state, and from every leaf calm must bring one leader and one
up-to-date view of all within the guaranteed time.

If a promise breaks, the exit code is 1 and the output has the path to it; --replay takes
the output of -o json. A search that --time or --states ends reports that it is not
exhausted. An interrupted search prints its results, and the exit code is 1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.IntVar(&f.nodes, "nodes", 2, fmt.Sprintf("how many nodes there are, 1 to %d", exhaust.MaxNodes))
	fl.IntVar(&f.depth, "depth", 8, fmt.Sprintf("explore every fate of this many messages on a path, 1 to %d", exhaust.MaxDepth))
	fl.IntVar(&f.faults, "faults", 0, "how many messages on a path may be late or lost (default any)")
	fl.IntVar(&f.crashes, "crashes", 0, "how many crashes with a restart there may be on a path")
	fl.IntVar(&f.stalls, "stalls", 0, "how many stalls there may be on a path")
	fl.BoolVar(&f.veryLate, "very-late", false, "a fourth fate: messages that arrive after every lease")
	fl.Var(f.starts, "start", "where to start")
	fl.Var(f.rates, "rates", "clock rates: nominal, opposed or every combination")
	f.modeFlags.register(fl)
	fl.IntVar(&f.states, "states", 2_000_000, "limit of distinct states")
	fl.DurationVar(&f.time, "time", 0, "time limit of the search (default: until it is done)")
	fl.BoolVar(&f.noSuffix, "no-suffix", false, "do not continue calmly from the leaves: faster, without a check of liveness")
	fl.StringVar(&f.replay, "replay", "", "run the path in this file ('-': standard input) again; the file is the output of -o json")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	return cmd
}

// options returns the options of the search, or an error that names the wrong flag.
func (f *exhaustFlags) options() (exhaust.Options, error) {
	opt := exhaust.Options{Nodes: f.nodes, Depth: f.depth, Faults: f.faults, Crashes: f.crashes, Stalls: f.stalls,
		VeryLate: f.veryLate, States: f.states, NoSuffix: f.noSuffix, Starts: f.starts.Value, Rates: f.rates.Value,
		Mode: f.mode.Value, RankBy: f.rank.Value, Timing: f.preset.Value}
	for _, n := range []struct {
		flag        string
		value       int
		least, most int64
	}{
		{"nodes", f.nodes, 1, exhaust.MaxNodes}, {"depth", f.depth, 1, exhaust.MaxDepth},
		{"faults", f.faults, 0, exhaust.MaxBudget}, {"crashes", f.crashes, 0, exhaust.MaxBudget},
		{"stalls", f.stalls, 0, exhaust.MaxBudget}, {"states", f.states, 1, exhaust.MaxStates},
	} {
		if v := int64(n.value); v < n.least || v > n.most {
			return opt, fmt.Errorf("--%s: %d is outside [%d, %d]", n.flag, n.value, n.least, n.most)
		}
	}
	if f.time < 0 {
		return opt, errors.New("--time: must not be below 0")
	}
	return opt, opt.Validate()
}

func (f *exhaustFlags) run(cmd *cobra.Command) error {
	if f.replay != "" {
		if err := onlyReplay(cmd); err != nil {
			return cli.WrongUsage(err)
		}
		return replayPath(cmd, f.replay)
	}
	opt, err := f.options()
	if err != nil {
		return cli.WrongUsage(err)
	}
	ctx, stop := cli.Interruptible(cmd)
	defer stop()
	if f.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.time)
		defer cancel()
	}
	began := time.Now()
	if !f.quiet {
		opt.Progress = progressTo(cmd.ErrOrStderr(), began)
	}
	report, err := exhaust.Run(ctx, opt)
	if err != nil {
		return cli.WrongUsage(err)
	}
	return printReport(cmd, &report, time.Since(began))
}

// progressTo returns a function that prints the progress every other second.
func progressTo(w io.Writer, began time.Time) func(exhaust.Progress) {
	last := began
	return func(p exhaust.Progress) {
		now := time.Now()
		if now.Sub(last) < 2*time.Second {
			return
		}
		last = now
		_, _ = fmt.Fprintf(w, "exhaust: depth %d, %d states, %d wait, %.0f states/s\n",
			p.Depth, p.States, p.Waiting, float64(p.States)/now.Sub(began).Seconds())
	}
}

// exhaustResult is the JSON form of the report.
type exhaustResult struct {
	exhaust.Report
	Seconds float64 `json:"seconds"`
}

func printReport(cmd *cobra.Command, r *exhaust.Report, took time.Duration) error {
	err := cli.Print(cmd, exhaustResult{*r, took.Seconds()}, func(w io.Writer) error { return printExhaustTable(w, r, took) })
	if err != nil {
		return err
	}
	if v := r.Violation; v != nil {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "failaware-lab: %v\n", v)
		return cli.Printed(errViolation)
	}
	if r.Stopped == "interrupted" {
		return cli.Printed(errors.New("interrupted"))
	}
	return nil
}

func printExhaustTable(w io.Writer, r *exhaust.Report, took time.Duration) error {
	t := cli.NewTable(w)
	t.Row("states", r.States)
	t.Row("transitions", r.Transitions)
	t.Row("turns", r.Turns)
	t.Row("leaves", r.Leaves)
	t.Row("calm suffixes", r.Suffixes)
	t.Row("starts", r.Roots)
	t.Row("depth", r.Depth)
	t.Row("exhausted", cli.YesNo(r.Exhausted))
	if r.Stopped != "" {
		t.Row("stopped by", r.Stopped)
	}
	t.Row("longest path", cli.Brief(r.Longest))
	t.Row("worst rest", cli.Brief(r.WorstRest)+" of "+cli.BriefUp(r.Bound))
	t.Row("took", cli.Brief(took))
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Violation == nil {
		return nil
	}
	return printSteps(w, r.Violation.Steps)
}

func printSteps(w io.Writer, steps []string) error {
	for _, s := range steps {
		if _, err := fmt.Fprintln(w, s); err != nil {
			return err
		}
	}
	return nil
}

// replayResult is the JSON form of a replay.
type replayResult struct {
	Steps     []string           `json:"steps"`
	Violation *exhaust.Violation `json:"violation,omitempty"`
}

// onlyReplay returns an error for a flag of a search beside --replay.
func onlyReplay(cmd *cobra.Command) (err error) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if err == nil && f.Changed && f.Name != "replay" && f.Name != "quiet" {
			err = fmt.Errorf("--%s: the path of --replay determines it", f.Name)
		}
	})
	return err
}

// replayPath runs a path again.
func replayPath(cmd *cobra.Command, file string) error {
	p, err := readPath(cmd.InOrStdin(), file)
	if err != nil {
		return cli.Wrong("--replay: %w", err)
	}
	v, steps, err := exhaust.Replay(p)
	if err != nil {
		return cli.Wrong("--replay: %w", err)
	}
	if err := cli.Print(cmd, replayResult{steps, v}, func(w io.Writer) error { return printSteps(w, steps) }); err != nil {
		return err
	}
	if v != nil {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "failaware-lab: %v\n", v)
		return cli.Printed(errViolation)
	}
	return nil
}

// readPath reads a path, either alone or as a part of a violation or a report.
func readPath(stdin io.Reader, file string) (exhaust.Path, error) {
	f, err := openInput(stdin, file)
	if err != nil {
		return exhaust.Path{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return exhaust.Path{}, err
	}
	var in struct {
		exhaust.Path
		Within    *exhaust.Path `json:"path"`
		Violation *struct {
			Path *exhaust.Path `json:"path"`
		} `json:"violation"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return exhaust.Path{}, err
	}
	switch {
	case in.Violation != nil && in.Violation.Path != nil:
		return *in.Violation.Path, nil
	case in.Within != nil:
		return *in.Within, nil
	case in.Root.Start == "":
		return exhaust.Path{}, errors.New("it has no path")
	}
	return in.Path, nil
}
