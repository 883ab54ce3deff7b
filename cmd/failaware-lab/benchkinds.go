package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

func benchElectionCommand() *cobra.Command {
	var opt bench.ElectionOptions
	var together bool
	cmd := &cobra.Command{
		Use:   "election",
		Short: "Time from a request for votes to the leader, against a bare scatter-gather",
		Long: `Elections back to back: the leader asks again as soon as it has won. A renewal of
the lease is a whole election, with the same messages, votes and checks. The time
runs from the clock reading that the request carries until the leader has the
votes of all nodes. Elections where nobody led before are listed separately.

The nodes are made of the protocol stack, the codec and the UDP sockets, but not
of the loop of a whole node (which looks up addresses, keeps events, and so on).
In the same run, in turn with the elections and over the same sockets, packets of
the same sizes are sent and answered at once, without any protocol: the floor.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(benchCheck("count", opt.Count, 1), benchCheck("first", opt.First, 0)); err != nil {
				return err
			}
			if opt.Fanout != 0 && (opt.Fanout < leader.MinFanout || opt.Fanout > leader.MaxFanout) {
				return cli.Wrong("--collate %d: it is 0, or %d to %d", opt.Fanout, leader.MinFanout, leader.MaxFanout)
			}
			for _, n := range opt.Nodes {
				if err := benchCheck("nodes", n, 1); err != nil {
					return err
				}
			}
			var err error
			if !together {
				if opt.Launch, err = benchProcesses(); err != nil {
					return err
				}
			}
			opt.Progress = benchProgress(cmd)
			r, err := bench.Election(cmd.Context(), opt)
			if err != nil {
				return err
			}
			return benchPrint(cmd, r)
		},
	}
	f := cmd.Flags()
	f.IntSliceVar(&opt.Nodes, "nodes", []int{2, 4, 8}, "sizes of the group")
	f.IntVar(&opt.Count, "count", 100_000, "elections per size")
	f.IntVar(&opt.First, "first", 50, "elections per size where nobody led before")
	f.IntVar(&opt.Fanout, "collate", 0, "measure each size above K+1 again, with replies collated along a tree with K children; 0: not")
	f.BoolVar(&together, "one-process", false, "run all nodes as goroutines of one process")
	benchLimit(cmd, &opt.Limit)
	// A lease can run out long before the leader counts as dead.
	opt.Timing = timed.LAN()
	opt.Timing.Expires *= 2
	return cmd
}

func benchFailoverCommand() *cobra.Command {
	var opt bench.FailoverOptions
	var timing *benchTiming
	cmd := &cobra.Command{
		Use:   "failover",
		Short: "Time from a crash to the new leader and the new view",
		Long: `A process per node. The leader and a follower are killed in turn (SIGKILL) and
started again. The time runs from just before the signal until the processes of
all survivors know: that a survivor leads by the votes of all of them; and that
they hold one new view, which is up to date.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(benchCheck("nodes", opt.Nodes, 3), benchCheck("count", opt.Count, 1)); err != nil {
				return err
			}
			opt.Preset, opt.Timing, opt.Progress = timing.name, timing.value, benchProgress(cmd)
			return benchRun(cmd, &opt, &opt.Launch, bench.Failover)
		},
	}
	timing = benchPreset(cmd, "local")
	benchCounts(cmd, &opt.Nodes, &opt.Count, &opt.Limit, 5, 100, "crashes of the leader, and as many of followers")
	cmd.Flags().BoolVar(&opt.Followers, "followers", true, "crash followers as well")
	return cmd
}

func benchSplitCommand() *cobra.Command {
	var opt bench.SplitOptions
	var timing *benchTiming
	cmd := &cobra.Command{
		Use:   "split",
		Short: "Time to notice a split, to go on in both halves, and to merge again",
		Long: `A process per node. The group is cut in two halves, chosen at random, and healed.
Packets between the halves are dropped by the kernel at the receiving sockets
(Linux; no privileges are needed). Times run from the first node's cut, or
healing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(benchCheck("nodes", opt.Nodes, 2), benchCheck("count", opt.Count, 1)); err != nil {
				return err
			}
			opt.Preset, opt.Timing, opt.Progress = timing.name, timing.value, benchProgress(cmd)
			return benchRun(cmd, &opt, &opt.Launch, bench.Split)
		},
	}
	timing = benchPreset(cmd, "lan")
	benchCounts(cmd, &opt.Nodes, &opt.Count, &opt.Limit, 8, 20, "how often to split and merge")
	return cmd
}

func benchClockCommand() *cobra.Command {
	var opt bench.ClockOptions
	var timing *benchTiming
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Deviations that followers claim, against the truth; the cost of Now",
		Long: `A process per node. All followers are killed and join again. From then on their
clocks are read between two readings of the hardware clock, which all processes
of a host share, and so is the leader's: the truth is known to about a
microsecond, and every claimed deviation is held against it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(benchCheck("nodes", opt.Nodes, 2), benchCheck("count", opt.Count, 1)); err != nil {
				return err
			}
			opt.Preset, opt.Timing, opt.Progress = timing.name, timing.value, benchProgress(cmd)
			return benchRun(cmd, &opt, &opt.Launch, bench.Clock)
		},
	}
	timing = benchPreset(cmd, "local")
	benchCounts(cmd, &opt.Nodes, &opt.Count, &opt.Limit, 5, 5, "how often the followers join")
	cmd.Flags().DurationVar(&opt.Watch, "watch", 2*time.Second, "for how long to watch after the first second")
	return cmd
}

func benchIdleCommand() *cobra.Command {
	var opt bench.IdleOptions
	var timing *benchTiming
	cmd := &cobra.Command{
		Use:   "idle",
		Short: "Packets, processor time and memory of nodes that have nothing to do",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := benchCheck("nodes", opt.Nodes, 2); err != nil {
				return err
			}
			if opt.For <= 0 {
				return cli.Wrong("--for %v: it must be more than 0", opt.For)
			}
			opt.Preset, opt.Timing, opt.Progress = timing.name, timing.value, benchProgress(cmd)
			return benchRun(cmd, &opt, &opt.Launch, bench.Idle)
		},
	}
	timing = benchPreset(cmd, "local")
	cmd.Flags().IntVar(&opt.Nodes, "nodes", 8, "how many nodes")
	cmd.Flags().DurationVar(&opt.For, "for", 10*time.Second, "for how long")
	return cmd
}
