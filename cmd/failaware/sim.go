package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// simFlags are the flags of the simulator's command.
type simFlags struct {
	seeds      uint64
	first      uint64
	seed       uint64
	seconds    float64
	nodes      int
	jobs       int
	topologies uint64
	mode, rank string
	preset     string
	roughness  float64
	trace      bool
	codec      bool
	quiet      bool
	broadcast  broadcastFlag
}

func newSimCommand() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Run nodes in a simulated world and check every promise after every event",
		Long: `Run nodes in a deterministic simulated world with drifting clocks, lossy, late and
cut links, stalls, crashes and restarts, and check every promise after every event.
The last line of the output is one JSON object. A violation exits with 1 and prints
the seed and the command that replays it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd)
		},
	}
	fl := cmd.Flags()
	fl.Uint64Var(&f.seeds, "seeds", 100, "how many seeds to run")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first seed of the campaign")
	fl.Uint64Var(&f.seed, "seed", 0, "run this one seed only")
	fl.Float64Var(&f.seconds, "seconds", 20, "how many seconds a seed simulates")
	fl.IntVar(&f.nodes, "nodes", 5, "how many nodes the world has")
	fl.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "how many seeds run side by side")
	fl.Uint64Var(&f.topologies, "topologies", 0, "instead of random worlds, hold so many random topologies still and check BI or Assertion 4'")
	fl.StringVar(&f.mode, "mode", "available", "available or strict")
	fl.StringVar(&f.rank, "rank", "stable", "stable or id")
	fl.StringVar(&f.preset, "preset", "lan", "timing: local, lan or wan")
	fl.Float64Var(&f.roughness, "roughness", 1, "scales the rates of all faults, 0.1 to 10")
	fl.BoolVar(&f.trace, "trace", false, "with --seed: print every event and the trace's hash")
	fl.BoolVar(&f.codec, "codec", false, "pass every packet through the wire format (slower)")
	f.broadcast.register(fl)
	fl.BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	return cmd
}

// options turns the flags into options, naming the flag that is wrong.
func (f *simFlags) options() (sim.Options, error) {
	opt := sim.Options{Nodes: f.nodes, Roughness: f.roughness, Codec: f.codec, Broadcast: f.broadcast.on}
	var err error
	if opt.Mode, err = leader.ParseMode(f.mode); err != nil {
		return opt, fmt.Errorf("--mode: %w", err)
	}
	if opt.RankBy, err = leader.ParseRankBy(f.rank); err != nil {
		return opt, fmt.Errorf("--rank: %w", err)
	}
	if opt.Timing, err = timed.Preset(f.preset); err != nil {
		return opt, fmt.Errorf("--preset: %w", err)
	}
	switch {
	case !(f.seconds >= 0.1 && f.seconds <= 1e7):
		return opt, fmt.Errorf("--seconds: %v is outside [0.1, 10000000]", f.seconds)
	case !(f.roughness >= 0.1 && f.roughness <= 10):
		return opt, fmt.Errorf("--roughness: %v is outside [0.1, 10]", f.roughness)
	case f.nodes < 1 || f.nodes > sim.MaxNodes:
		return opt, fmt.Errorf("--nodes: %d is outside [1, %d]", f.nodes, sim.MaxNodes)
	case f.topologies > 0 && f.nodes > sim.MaxTopology:
		return opt, fmt.Errorf("--nodes: %d is above %d, the most for which --topologies can compute a clique cover", f.nodes, sim.MaxTopology)
	case f.jobs < 1 || f.jobs > 1024:
		return opt, fmt.Errorf("--jobs: %d is outside [1, 1024]", f.jobs)
	case f.seeds < 1:
		return opt, errors.New("--seeds: must be at least 1")
	case f.trace && f.seed == 0:
		return opt, errors.New("--trace: needs --seed, since a trace is of one run")
	}
	opt.Duration = time.Duration(f.seconds * float64(time.Second))
	return opt, opt.Validate()
}

// replay returns the command that runs one seed again.
func (f *simFlags) replay(seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "failaware sim --seed %d --trace --nodes %d --mode %s --rank %s --preset %s", seed, f.nodes, f.mode, f.rank, f.preset)
	if f.topologies > 0 {
		b.WriteString(" --topologies 1")
	} else {
		fmt.Fprintf(&b, " --seconds %v --roughness %v", f.seconds, f.roughness)
	}
	return b.String() + f.broadcast.replay()
}

// errViolation ends a campaign that found something: exit code 1.
var errViolation = errors.New("a promise was broken")

func (f *simFlags) run(cmd *cobra.Command) error {
	opt, err := f.options()
	if err != nil {
		return usageError(err)
	}
	seeds := f.seeds
	if f.topologies > 0 {
		seeds = f.topologies
	}
	first := f.first
	if f.seed != 0 || cmd.Flags().Changed("seed") {
		first, seeds = f.seed, 1
	}
	if f.trace {
		opt.Trace = cmd.OutOrStdout()
	}
	c := campaign{flags: f, opt: opt, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), first: first, seeds: seeds}
	return c.run()
}
