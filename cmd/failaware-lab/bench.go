package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/timed"
)

// newBenchCommand returns the command that measures nodes over UDP on this
// machine. Its own hidden command is what it runs in processes of their own.
func newBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure elections, failover, splits, clocks, idle nodes, broadcast and collation on this machine",
		Long: `Measure nodes over real UDP on the loopback interface of this machine, mostly
with one process per node. Numbers are only worth as much as the machine is idle;
the load before the benchmark is printed with them.`,
		Args: cobra.NoArgs,
		RunE: cli.Help,
	}
	cmd.AddCommand(benchElectionCommand(), benchFailoverCommand(), benchSplitCommand(), benchClockCommand(),
		benchIdleCommand(), benchBroadcastCommand(), benchOutageCommand(), benchCollationCommand(), benchChildCommand())
	return cmd
}

// benchChild is the name of the hidden command.
const benchChild = "child-process"

func benchChildCommand() *cobra.Command {
	return &cobra.Command{
		Use: benchChild, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return bench.Serve(cmd.InOrStdin(), cmd.OutOrStdout()) },
	}
}

// benchProcesses returns what starts this program again, as a child. Tests, which
// are another program, replace it.
var benchProcesses = func() (bench.Launcher, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("bench: this program cannot start itself: %w", err)
	}
	return func() *exec.Cmd { return exec.Command(self, "bench", benchChild) }, nil
}

// benchProgress writes what is going on to the standard error.
func benchProgress(cmd *cobra.Command) func(string, ...any) {
	return func(format string, args ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "bench: "+format+"\n", args...)
	}
}

// benchRun runs a benchmark whose nodes are processes of their own, and prints
// what it found. launch is the field of the options that says how they start.
func benchRun[O any, R benchResult](cmd *cobra.Command, opt *O, launch *bench.Launcher, run func(context.Context, O) (R, error)) error {
	var err error
	if *launch, err = benchProcesses(); err != nil {
		return err
	}
	r, err := run(cmd.Context(), *opt)
	if err != nil {
		return err
	}
	return benchPrint(cmd, r)
}

// benchResult is what a benchmark found.
type benchResult interface{ Text(w io.Writer) }

// benchPrint prints a result in the form that was asked for.
func benchPrint(cmd *cobra.Command, r benchResult) error {
	return cli.Print(cmd, r, func(w io.Writer) error {
		r.Text(w)
		return nil
	})
}

// benchTiming is the flag that chooses a preset.
type benchTiming struct {
	name  string
	value timed.Timing
}

func (t *benchTiming) String() string { return t.name }

func (t *benchTiming) Type() string { return "preset" }

func (t *benchTiming) Set(name string) error {
	value, err := timed.Preset(name)
	if err != nil {
		return err
	}
	t.name, t.value = name, value
	return nil
}

// benchPreset adds the flag, with its default.
func benchPreset(cmd *cobra.Command, preset string) *benchTiming {
	t := new(benchTiming)
	_ = t.Set(preset) // the defaults exist
	cmd.Flags().Var(t, "preset", "timing: local, lan or wan")
	return t
}

// benchCounts adds the flags that most benchmarks have.
func benchCounts(cmd *cobra.Command, nodes, count *int, limit *time.Duration, defNodes, defCount int, what string) {
	cmd.Flags().IntVar(nodes, "nodes", defNodes, "how many nodes")
	cmd.Flags().IntVar(count, "count", defCount, what)
	benchLimit(cmd, limit)
}

func benchLimit(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "limit", 5*time.Minute, "the longest time to take; what was measured until then is printed")
}

// benchCheck returns an error if a count makes no sense.
func benchCheck(name string, value, least int) error {
	if value < least {
		return cli.Wrong("--%s %d: at least %d is needed", name, value, least)
	}
	return nil
}
