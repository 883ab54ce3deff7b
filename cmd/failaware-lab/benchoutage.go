package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli"
)

func benchOutageCommand() *cobra.Command {
	var opt bench.OutageOptions
	var timing *benchTiming
	var atomicity string
	cmd := &cobra.Command{
		Use:   "outage",
		Short: "Members that stop, crash, are cut off or too slow while all broadcast at saturation",
		Long: `A process per node; all broadcast as much as the window takes. In turn a follower and
the leader are stopped (SIGSTOP) and go on, a follower and the leader are killed
and start again, the group is cut in two and healed, and an application takes far too
long for its deliveries. What is measured is the longest time in which the
application of any of the others got nothing, against the bound of the settings. In
the end, what all applications got is held against each other: members of a view
deliver parts of one sequence, those who move on together the same, and nothing of
who came along is left out or comes twice.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(benchCheck("nodes", opt.Nodes, 3), benchCheck("size", opt.Size, 8)); err != nil {
				return err
			}
			if opt.For <= 0 {
				return cli.Wrong("--for %v: it must be more than 0", opt.For)
			}
			var ok bool
			if opt.Atomicity, ok = castAtomicities[atomicity]; !ok {
				return cli.Wrong("--atomicity %q: there are weak, strong and strict", atomicity)
			}
			opt.Preset, opt.Timing, opt.Progress = timing.name, timing.value, benchProgress(cmd)
			return benchRun(cmd, &opt, &opt.Launch, bench.Outage)
		},
	}
	timing = benchPreset(cmd, "lan")
	f := cmd.Flags()
	f.IntVar(&opt.Nodes, "nodes", 5, "how many nodes")
	f.IntVar(&opt.Size, "size", 1024, "size of the messages in bytes")
	f.StringVar(&atomicity, "atomicity", "strict", "weak, strong or strict")
	f.DurationVar(&opt.For, "for", 5*time.Second, "how long each outage lasts")
	benchLimit(cmd, &opt.Limit)
	return cmd
}
