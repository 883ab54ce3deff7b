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

func benchCollationCommand() *cobra.Command {
	var opt bench.CollationOptions
	var timing *benchTiming
	cmd := &cobra.Command{
		Use:   "collation",
		Short: "Packets and processor time of large groups' elections, replies collated and not",
		Long: `Renewals of a lease, and elections after a leader's crash, in simulated groups
without faults: with every reply sent to the leader, and with replies collated
along a tree. Packets and times are those of the simulated network; the leader's
time to receive is measured on this machine, decoding included, sockets not.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(benchCheck("rounds", opt.Renewals, 1), benchCheck("crashes", opt.Crashes, 0)); err != nil {
				return err
			}
			for _, n := range opt.Nodes {
				if n < 3 || n > timed.MaxNodes {
					return cli.Wrong("--nodes %d: it must be 3 to %d", n, timed.MaxNodes)
				}
			}
			if opt.Fanout < leader.MinFanout || opt.Fanout > leader.MaxFanout {
				return cli.Wrong("--k %d: it must be %d to %d", opt.Fanout, leader.MinFanout, leader.MaxFanout)
			}
			opt.Preset, opt.Timing, opt.Progress = timing.name, timing.value, benchProgress(cmd)
			if opt.Delay < 5*timed.MinDuration || opt.Delay > min(opt.Timing.OneWayTimeout, 5*opt.Timing.SchedulingDelay) {
				return cli.Wrong("--delay %v: it must be %v to %v with this preset", opt.Delay, 5*timed.MinDuration,
					min(opt.Timing.OneWayTimeout, 5*opt.Timing.SchedulingDelay))
			}
			r, err := bench.Collation(cmd.Context(), opt)
			if err != nil {
				return err
			}
			return benchPrint(cmd, r)
		},
	}
	timing = benchPreset(cmd, "lan")
	f := cmd.Flags()
	f.IntSliceVar(&opt.Nodes, "nodes", []int{8, 16, 32, 64, 128, 255}, "sizes of the group")
	f.IntVar(&opt.Fanout, "k", 4, "children of each node of the tree")
	f.IntVar(&opt.Renewals, "rounds", 100, "renewals per size")
	f.IntVar(&opt.Crashes, "crashes", 20, "crashes of the leader per size")
	f.DurationVar(&opt.Delay, "delay", 500*time.Microsecond, "the longest delay of a packet; the shortest is a fifth of it")
	benchLimit(cmd, &opt.Limit)
	return cmd
}
