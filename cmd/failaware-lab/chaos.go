package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/failaware/failaware/internal/chaos"
	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/timed"
)

// Names of the hidden commands that processes of a chaos run execute.
const (
	chaosMember = "member-process"
	chaosHog    = "hog-process"
)

func newChaosCommand() *cobra.Command {
	var opt chaos.Options
	preset := cli.NewValue("lan", "preset", timed.Preset)
	minutes := 3.0
	missing, judge, kinds := false, "", []string{}
	cmd := &cobra.Command{
		Use:   "chaos",
		Short: "Run real nodes through faults of network, machine and disks, judged from outside",
		Long: `Run a group of real nodes, each in a network namespace of its own, through random
faults: cut and one-way links, lost, late, reordered, repeated, replayed and damaged
packets, forbidden sends, killed, stopped and starved processes, full, frozen, empty and
torn disks, and keys that change meanwhile. The group heals after each episode of faults.

Programs around the nodes write down what they answer, with the clock of the machine
before and after, and a checker of its own holds all of it against each other. It needs
root, and the programs ip, nft, mkfs.ext4 and fsfreeze. Exit code 1 says that there was a violation; it is
printed with the seed and the faults.`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.Uint64Var(&opt.Seed, "seed", 1, "the seed of the faults")
	f.Float64Var(&minutes, "minutes", minutes, "for how long")
	f.IntVar(&opt.Nodes, "nodes", 5, "how many nodes")
	f.IntVar(&opt.First, "first", 0, "the number of the first episode")
	f.IntVar(&opt.Only, "episodes", 0, "how many episodes to play at most; 0: as many as there is time for")
	f.StringSliceVar(&kinds, "kinds", nil, "the only kinds of faults; empty: all")
	f.StringVar(&opt.Dir, "dir", "", "a directory for logs and disks; a temporary one if empty")
	f.BoolVar(&missing, "missing", false, "only say what this machine lacks for the run, if anything")
	f.StringVar(&judge, "judge", "", "only judge the logs of an earlier run, in this directory, again")
	f.Var(preset, "preset", "timing: local, lan or wan")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := chaosTogether(cmd.Flags(), missing, judge); err != nil {
			return cli.WrongUsage(err)
		}
		if missing {
			return cli.PrintLine(cmd, map[string]string{"missing": chaos.Missing()}, chaos.Missing())
		}
		opt.Preset, opt.For = preset.Text, time.Duration(minutes*float64(time.Minute))
		for _, k := range kinds {
			opt.Kinds = append(opt.Kinds, chaos.Kind(k))
		}
		if err := opt.Check(); err != nil {
			return cli.WrongUsage(err)
		}
		if judge != "" {
			return judgeChaos(cmd, opt, judge)
		}
		if err := launchChaos(cmd, &opt); err != nil {
			return err
		}
		ctx, stop := cli.Interruptible(cmd)
		defer stop()
		r, err := chaos.Run(ctx, opt)
		return printChaos(cmd, r, err)
	}
	cmd.AddCommand(chaosMemberCommand(), chaosHogCommand())
	return cmd
}

// chaosRunFlags are the flags of a run without a meaning for the logs of an earlier one.
// The others determine the limits, or the command that plays it again.
var chaosRunFlags = []string{"minutes", "episodes", "kinds", "dir"}

// chaosTogether returns an error if flags contradict each other.
func chaosTogether(fl *pflag.FlagSet, missing bool, judge string) (err error) {
	switch {
	case missing:
		fl.Visit(func(f *pflag.Flag) {
			if fl.Lookup(f.Name) == f && f.Name != "missing" && f.Name != "output" {
				err = fmt.Errorf("--%s: is for runs, and --missing begins none", f.Name)
			}
		})
	case judge != "":
		for _, flag := range chaosRunFlags {
			if fl.Changed(flag) {
				return fmt.Errorf("--%s: is for runs, and --judge begins none", flag)
			}
		}
	case fl.Changed("judge"):
		return errors.New("--judge: needs the name of a directory")
	}
	return err
}

// launchChaos sets how a run starts its processes and tells of its progress.
func launchChaos(cmd *cobra.Command, opt *chaos.Options) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("chaos: this program cannot start itself: %w", err)
	}
	opt.Launch = func() *exec.Cmd { return exec.Command(self, "chaos", chaosMember) }
	opt.Hog = func() *exec.Cmd { return exec.Command(self, "chaos", chaosHog) }
	opt.Progress = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), "chaos: "+format+"\n", args...) }
	return nil
}

// judgeChaos judges the logs in a directory again.
func judgeChaos(cmd *cobra.Command, opt chaos.Options, logs string) error {
	r, err := chaos.Judge(opt, logs)
	if err != nil {
		return cli.WrongUsage(err)
	}
	return printChaos(cmd, r, nil)
}

// printChaos prints the result of a run, and returns an error if promises were broken.
func printChaos(cmd *cobra.Command, r *chaos.Result, err error) error {
	if err != nil {
		return err
	}
	if err := cli.Print(cmd, r, r.Text); err != nil {
		return err
	}
	if len(r.Violations) > 0 {
		return cli.No(errors.New("promises were broken"))
	}
	return nil
}

func chaosMemberCommand() *cobra.Command {
	return &cobra.Command{
		Use: chaosMember, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return member.Serve(cmd.InOrStdin(), cmd.OutOrStdout()) },
	}
}

func chaosHogCommand() *cobra.Command {
	return &cobra.Command{
		Use: chaosHog + " MILLISECONDS", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ms, err := strconv.Atoi(args[0])
			if err != nil {
				return cli.WrongUsage(err)
			}
			chaos.Hog(time.Duration(ms) * time.Millisecond)
			return nil
		},
	}
}
