package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/timed"
)

func newBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure elections, failover, splits, clocks, idle nodes, broadcast, latency, collation, attacks and transfers on this machine",
		Long: `Measure nodes over real UDP on the loopback interface of this machine, mostly
with one process per node. Other load distorts the results, which therefore name
the load before the benchmark.`,
		Args: cobra.NoArgs,
		RunE: cli.Help,
	}
	cmd.AddCommand(benchElectionCommand(), benchFailoverCommand(), benchSplitCommand(), benchClockCommand(),
		benchIdleCommand(), benchBroadcastCommand(), benchLatencyCommand(), benchOutageCommand(), benchCollationCommand(), benchAttackCommand(), benchTransferCommand(), benchChildCommand())
	return cmd
}

// benchChild is the name of the hidden command that child processes run.
const benchChild = "child-process"

func benchChildCommand() *cobra.Command {
	return &cobra.Command{
		Use: benchChild, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A terminal sends it to all, and the benchmark ends its children. On Windows it ends a process
			// that ignores it.
			signal.Notify(make(chan os.Signal, 1), os.Interrupt)
			return bench.Serve(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// benchProcesses returns a launcher that starts this program as a child.
func benchProcesses() (bench.Launcher, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("bench: this program cannot start itself: %w", err)
	}
	return func() *exec.Cmd { return exec.Command(self, "bench", benchChild) }, nil
}

// benchOptions are the options O of a benchmark.
type benchOptions[O any] interface {
	*O
	Check() error
	Common() *bench.Setup
}

// benchCommand completes the command of a benchmark: it checks the options, runs the
// benchmark and prints the result. An empty preset means that the timing in the options
// is fixed, and no limit in them means that the benchmark has none.
func benchCommand[O any, P benchOptions[O], R bench.Result](cmd *cobra.Command, opt P, preset string,
	run func(context.Context, O) (R, error)) *cobra.Command {
	setup := opt.Common()
	var timing *cli.Value[timed.Timing]
	if preset != "" {
		timing = cli.NewValue(preset, "preset", timed.Preset)
		cmd.Flags().Var(timing, "preset", "timing: local, lan or wan")
	}
	if setup.Limit > 0 {
		cmd.Flags().DurationVar(&setup.Limit, "limit", setup.Limit, "the time limit; the results until then are printed")
	}
	if cmd.Name() != "collation" && cmd.Name() != "attack" { // which run in the simulator, and always with keys
		cmd.Flags().BoolVar(&setup.Keys, "keys", false, "have the nodes seal their packets with a key of the group")
	}
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if timing != nil {
			setup.Preset, setup.Timing = timing.Text, timing.Value
		}
		setup.Progress = func(format string, args ...any) {
			fmt.Fprintf(cmd.ErrOrStderr(), "bench: "+format+"\n", args...)
		}
		err := opt.Check()
		if err != nil {
			return cli.WrongUsage(err)
		}
		if setup.Launch, err = benchProcesses(); err != nil {
			return err
		}
		ctx, restore := interruptible(cmd.Context(), cmd.ErrOrStderr())
		defer restore()
		r, err := run(ctx, *opt)
		if err != nil {
			return err
		}
		if err := cli.Print(cmd, r, r.Text); err != nil || ctx.Err() == nil {
			return err
		}
		return cli.Printed(ctx.Err())
	}
	return cmd
}

// benchLimit is the default of --limit.
const benchLimit = 5 * time.Minute
