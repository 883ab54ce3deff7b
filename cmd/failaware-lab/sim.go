package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/failaware/failaware/internal/campaign"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
)

// simFlags are the flags of the simulator's command.
type simFlags struct {
	seeds, first, seed uint64
	time               time.Duration
	jobs               int
	topologies         uint64
	replay             string
	campaign           string
	row                *campaign.Campaign // of --campaign, or nil

	modeFlags
	seconds      float64
	nodes        int
	roughness    float64
	calm         bool
	brokenClocks bool
	uneven       bool
	codec        bool
	references   bool
	broadcast    bool
	quorum       string
	epochs       bool
	collate      int

	trace           bool
	shrink          bool
	save            string
	diagram         string
	from, to        time.Duration
	report          string
	requireCoverage bool
	quiet           bool

	given func(flag string) bool // reports whether a flag is on the command line
}

func newSimCommand() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Run nodes in a simulated world and check every promise after every event",
		Long: `Run nodes in a deterministic simulated world with drifting clocks, lossy, late and
cut links, stalls, crashes and restarts, and check every promise after every event.

A campaign runs many seeds (--seeds, --time, or both). --seed runs one of them, and
--replay a case from a file; either can be traced, drawn, and shrunk. --campaign takes
the worlds from the table of 'failaware-lab campaign list'. The last line of
the output is one JSON object; with -o json there is nothing else. If a promise breaks,
the exit code is 1, and the output names the command that runs it again. The first
interrupt ends a campaign or a search with exit code 1 after printing its results, the
second at once.`,
		Example: `  failaware-lab sim --seeds 200 --nodes 5 --mode strict --rank id
  failaware-lab sim --time 10m --roughness 4 --shrink
  failaware-lab sim --seed 17 --trace
  failaware-lab sim --seed 17 --diagram run.svg --from 3s --to 4s
  failaware-lab sim --replay case-17.json --diagram case.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			return f.run(cmd)
		},
	}
	cmd.AddCommand(newSimClocksCommand())
	f.register(cmd.Flags())
	return cmd
}

// register adds the flags.
func (f *simFlags) register(fl *pflag.FlagSet) {
	fl.Uint64Var(&f.seeds, "seeds", 100, "how many seeds to run (default with --time: as many as there is time for)")
	fl.DurationVar(&f.time, "time", 0, "time for starting new seeds")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first seed of the campaign")
	fl.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "number of seeds that run in parallel")
	fl.Uint64Var(&f.seed, "seed", 0, "run this one seed only")
	fl.StringVar(&f.replay, "replay", "", "run the case in this file ('-': standard input)")
	fl.StringVar(&f.campaign, "campaign", "", "run in the worlds of this campaign of the table")
	fl.Uint64Var(&f.topologies, "topologies", 0, "instead of random worlds, hold this many random topologies still and check BI or Assertion 4'")

	fl.Float64Var(&f.seconds, "seconds", 20, "how many seconds a seed simulates")
	fl.IntVar(&f.nodes, "nodes", 5, "how many nodes the world has")
	f.modeFlags.register(fl)
	fl.Float64Var(&f.roughness, "roughness", 1, "scales the rates of all faults, 0.1 to 10")
	fl.BoolVar(&f.calm, "calm", false, "no random faults")
	fl.BoolVar(&f.brokenClocks, "broken-clocks", false, "hardware clocks also drift, jump and stop beyond ρ; promises that rest on ρ are not checked from then on")
	fl.BoolVar(&f.uneven, "uneven", false, "processes have lock times of their own, clocks show whole microseconds, and some faults strike all nodes at once")
	fl.BoolVar(&f.codec, "codec", false, "pass every packet through the wire format (slower)")
	fl.BoolVar(&f.references, "references", false, "every world has external references of time, some of which are falsetickers or fail (default: one world in ten)")
	fl.BoolVar(&f.broadcast, "broadcast", false, "switch the atomic broadcast on, with random messages, bursts and slow applications")
	fl.StringVar(&f.quorum, "quorum", "", "leaders also lead globally, by this quorum system (majority:1,2,3, weighted:1=2,2=1, grid:1,2/3,4, explicit:1,2/2,3/1,3), or by a random one for each seed (random)")
	fl.BoolVar(&f.epochs, "epochs", false, "with --quorum: an administrator replaces the quorum system at times, and leaders create edicts")
	fl.IntVar(&f.collate, "collate", 0, "collate replies along a tree with this many children, in groups of at least two nodes more; 0: never")

	fl.BoolVar(&f.trace, "trace", false, "with --seed or --replay: print every event and the trace's hash")
	fl.BoolVar(&f.shrink, "shrink", false, "search for the smallest case that breaks the same promise, print its faults, and write it to a file")
	fl.StringVar(&f.save, "save", "", "new file for the failing case, or for that of --seed (default with --shrink: case-SEED.json)")
	fl.StringVar(&f.diagram, "diagram", "", "with --seed or --replay: file.svg for a space-time diagram")
	fl.DurationVar(&f.from, "from", 0, "with --diagram: true time at which it begins (default: shortly before the violation, or 0)")
	fl.DurationVar(&f.to, "to", 0, "with --diagram: true time at which it ends")
	fl.StringVar(&f.report, "report", "", "append a section of Markdown about the run to this file")
	fl.BoolVar(&f.requireCoverage, "require-coverage", false, "exit with 1 if a situation that these options should reach was never reached")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
}

// options returns the options of the simulator, or an error that names the wrong flag.
func (f *simFlags) options() (sim.Options, error) {
	opt := sim.Options{Nodes: f.nodes, Mode: f.mode.Value, RankBy: f.rank.Value, Timing: f.preset.Value,
		Roughness: f.roughness, Calm: f.calm, BrokenClocks: f.brokenClocks, Codec: f.codec,
		Quorum: f.quorum, Epochs: f.epochs, Collation: f.collation(), Unequal: f.uneven, Shared: f.uneven}
	if f.uneven {
		opt.Resolution = sim.MaxResolution
	}
	if f.references {
		opt.Servers = &fault.Servers{}
	}
	if f.broadcast {
		opt.Broadcast = &sim.Broadcast{}
	}
	if f.campaign != "" {
		row, err := campaign.Find(f.campaign)
		if err != nil {
			return opt, fmt.Errorf("--campaign: %w", err)
		}
		f.row, opt = &row, row.Options
	}
	switch {
	case !(f.seconds >= 0.1 && f.seconds <= 1e7):
		return opt, fmt.Errorf("--seconds: %v is outside [0.1, 10000000]", f.seconds)
	case !(f.roughness >= 0.1 && f.roughness <= 10):
		return opt, fmt.Errorf("--roughness: %v is outside [0.1, 10]", f.roughness)
	case f.nodes < 1 || f.nodes > sim.MaxNodes:
		return opt, fmt.Errorf("--nodes: %d is outside [1, %d]", f.nodes, sim.MaxNodes)
	case f.given("topologies") && f.topologies < 1:
		return opt, errors.New("--topologies: must be at least 1")
	case f.topologies > 0 && f.nodes > sim.MaxTopology:
		return opt, fmt.Errorf("--nodes: %d is above %d, the most for which --topologies can compute a clique cover", f.nodes, sim.MaxTopology)
	case f.collate != 0 && (f.collate < leader.MinFanout || f.collate > leader.MaxFanout):
		return opt, fmt.Errorf("--collate: %d is neither 0 nor in [%d, %d]", f.collate, leader.MinFanout, leader.MaxFanout)
	case f.jobs < 1 || f.jobs > sim.MaxJobs:
		return opt, fmt.Errorf("--jobs: %d is outside [1, %d]", f.jobs, sim.MaxJobs)
	case f.seeds < 1:
		return opt, errors.New("--seeds: must be at least 1")
	case f.first < 1:
		return opt, errors.New("--first-seed: must be at least 1")
	case f.given("seed") && f.seed < 1:
		return opt, errors.New("--seed: must be at least 1")
	case f.given("time") && f.time <= 0:
		return opt, fmt.Errorf("--time: %v is not above 0", f.time)
	}
	if f.row == nil {
		opt.Duration = time.Duration(f.seconds * float64(time.Second))
	}
	return opt, opt.Validate()
}

// optionsOf returns the options of one seed.
func (s *simRun) optionsOf(seed uint64) sim.Options {
	if row := s.flags.row; row != nil {
		return row.OptionsOf(seed)
	}
	return s.opt
}

// plays returns the function that plays the seeds, or nil for [sim.Run]. Other runs
// have no case that could be drawn or shrunk.
func (f *simFlags) plays() func(uint64, sim.Options) (sim.Result, error) {
	switch {
	case f.row != nil:
		return f.row.Play
	case f.topologies > 0:
		return sim.RunTopology
	}
	return nil
}

// again returns the command that runs one seed again.
func (f *simFlags) again(seed uint64) string {
	return fmt.Sprintf("failaware-lab sim --seed %d --trace %s", seed, f.world())
}

// world returns the flags that determine the world of a seed.
func (f *simFlags) world() string {
	if f.row != nil {
		return "--campaign " + f.row.Name
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--nodes %d --mode %s --rank %s --preset %s", f.nodes, f.mode, f.rank, f.preset)
	switch {
	case f.topologies > 0:
		b.WriteString(" --topologies 1")
	case f.calm:
		fmt.Fprintf(&b, " --seconds %v --calm", f.seconds)
	default:
		fmt.Fprintf(&b, " --seconds %v --roughness %v", f.seconds, f.roughness)
	}
	for _, flag := range []struct {
		on   bool
		text string
	}{
		{f.brokenClocks, "--broken-clocks"}, {f.uneven, "--uneven"}, {f.codec, "--codec"}, {f.references, "--references"}, {f.quorum != "", "--quorum " + f.quorum},
		{f.epochs, "--epochs"}, {f.collate != 0, fmt.Sprint("--collate ", f.collate)}, {f.broadcast, "--broadcast"},
	} {
		if flag.on {
			b.WriteString(" " + flag.text)
		}
	}
	return b.String()
}

// collation returns settings that collate replies in all groups that are large enough
// for the tree.
func (f *simFlags) collation() leader.Collation {
	if f.collate == 0 {
		return leader.Collation{}
	}
	return leader.Collation{Above: f.collate + 1, Fanout: f.collate}
}

func (f *simFlags) run(cmd *cobra.Command) error {
	opt, err := f.options()
	if err == nil {
		err = f.together(cli.FormatOf(cmd))
	}
	if err != nil {
		return cli.WrongUsage(err)
	}
	s := simRun{label: "sim", flags: f, opt: opt, output: cli.FormatOf(cmd), in: cmd.InOrStdin(), out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
	if err := s.open(); err != nil {
		return cli.WrongUsage(err)
	}
	defer s.close()
	return s.run(cmd.Context())
}
