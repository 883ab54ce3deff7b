package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/campaign"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim"
)

func newCampaignCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Run the simulated campaigns of a table, or list them",
		Args:  cobra.NoArgs,
		RunE:  cli.Help,
	}
	cmd.AddCommand(newCampaignListCommand(), newCampaignRunCommand(), newCampaignMergeCommand())
	return cmd
}

func newCampaignListCommand() *cobra.Command {
	set := cli.NewValue("all", "set", campaign.ParseSet)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the campaigns",
		Long: `List the campaigns: what each is for, the number of seeds in the sets check and test,
its share of the time of set long, and the number of situations that the seeds of set
test must reach.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listCampaigns(cmd, set.Value) },
	}
	cmd.Flags().Var(set, "set", "the campaigns of this set: check, test, long or all")
	return cmd
}

// campaignLine is the JSON form of a row of the table.
type campaignLine struct {
	Name    string   `json:"name"`
	Purpose string   `json:"purpose"`
	Check   uint64   `json:"check_seeds"`
	Test    uint64   `json:"test_seeds"`
	Long    int      `json:"long_share"`
	Demands []string `json:"must_reach"`
}

func listCampaigns(cmd *cobra.Command, set campaign.Set) error {
	var lines []campaignLine
	for _, c := range campaign.In(set) {
		lines = append(lines, campaignLine{c.Name, c.Purpose, c.Check, c.Test, c.Long, c.Demands()})
	}
	return printList(cmd, lines, func(w io.Writer) error {
		t := cli.NewTable(w)
		t.Row("CAMPAIGN", "CHECK", "TEST", "LONG", "SITUATIONS", "PURPOSE")
		for _, l := range lines {
			t.Row(l.Name, count(l.Check), count(l.Test), count(uint64(l.Long)), count(uint64(len(l.Demands))), l.Purpose)
		}
		return t.Flush()
	})
}

// count formats a number of a table; 0 is empty.
func count(n uint64) string {
	if n == 0 {
		return cli.Dash("")
	}
	return fmt.Sprint(n)
}

// campaignFlags are the flags of the command that runs campaigns.
type campaignFlags struct {
	set           *cli.Value[campaign.Set]
	seeds, first  uint64
	shard         uint64
	time          time.Duration
	jobs          int
	shrink        bool
	report        string
	hashes, quiet bool
	behaviour     string
	update        bool

	given func(flag string) bool // reports whether a flag is on the command line
}

func newCampaignRunCommand() *cobra.Command {
	f := campaignFlags{set: cli.NewValue("all", "set", campaign.ParseSet)}
	cmd := &cobra.Command{
		Use:   "run [NAME...]",
		Short: "Run campaigns of the table",
		Long: `Run campaigns one after the other: those that are named, or all of a set. A campaign
fails if a promise breaks, or if the seeds of set test do not reach a situation that
the table demands. The exit code is 1 if a campaign failed; the output names the command
that runs the seed again.

The sets check and test run a number of seeds of each campaign, and set long starts new
seeds for the time of --time, of which each campaign gets a share.

A file of --behaviour has a line for each campaign: a hash of all that its nodes did and
claimed, and some figures. A change of the code that changes a line by mistake is a bug
that broke no promise; one that is meant to change it comes with the file of --update.`,
		Example: `  failaware-lab campaign run --set check
  failaware-lab campaign run rough broadcast-rough --seeds 1000
  failaware-lab campaign run --set long --time 1h --shard 7 -o json >7.json
  failaware-lab campaign run --set long --time 8h --first-seed 1000000 --shrink
  failaware-lab campaign run --set check --behaviour internal/campaign/behaviour/check.txt`,
		RunE: f.run,
	}
	fl := cmd.Flags()
	fl.Var(f.set, "set", "the campaigns and seeds of this set: check, test, long or all")
	fl.Uint64Var(&f.seeds, "seeds", 0, "how many seeds of each campaign to run (default: those of the set)")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first seed of each campaign")
	fl.Uint64Var(&f.shard, "shard", 0, "run the seeds that follow those of so many other shards, of --seeds seeds each or, with --time alone, of a billion")
	fl.DurationVar(&f.time, "time", 0, "time for starting new seeds, in all campaigns together")
	fl.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "number of seeds that run in parallel")
	fl.BoolVar(&f.shrink, "shrink", false, "search for the smallest case that breaks the same promise, and write it to a file case-SEED.json")
	fl.StringVar(&f.report, "report", "", "append a section of Markdown about each campaign to this file")
	fl.BoolVar(&f.hashes, "hashes", false, "print only the name and the hash of each campaign")
	fl.BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	fl.StringVar(&f.behaviour, "behaviour", "", "fail if what nodes did differs from this file")
	fl.BoolVar(&f.update, "update", false, "write the file of --behaviour instead; lines of campaigns that are not run stay")
	return cmd
}

// rows returns the campaigns to run, or an error that names the wrong flag.
func (f *campaignFlags) rows(args []string) (rows []campaign.Campaign, err error) {
	for _, name := range args {
		row, err := campaign.Find(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(rows, func(c campaign.Campaign) bool { return c.Name == name }) {
			return nil, fmt.Errorf("campaign %s is named twice", name)
		}
		rows = append(rows, row)
	}
	switch {
	case f.jobs < 1 || f.jobs > sim.MaxJobs:
		return nil, fmt.Errorf("--jobs: %d is outside [1, %d]", f.jobs, sim.MaxJobs)
	case f.given("seeds") && f.seeds < 1:
		return nil, errors.New("--seeds: must be at least 1")
	case f.first < 1:
		return nil, errors.New("--first-seed: must be at least 1")
	case f.shard > maxShard:
		return nil, fmt.Errorf("--shard: %d is above %d", f.shard, maxShard)
	case f.time < 0:
		return nil, fmt.Errorf("--time: %v is below 0", f.time)
	case f.set.Value == campaign.Long && f.time == 0 && f.seeds == 0:
		return nil, errors.New("--time: set long needs a time")
	case f.update && f.behaviour == "":
		return nil, errors.New("--update: needs --behaviour")
	case f.behaviour != "" && f.time > 0:
		return nil, errors.New("--behaviour: does not compare what --time ends")
	}
	if len(rows) == 0 {
		rows = campaign.In(f.set.Value)
	}
	return rows, nil
}

func (f *campaignFlags) run(cmd *cobra.Command, args []string) error {
	f.given = cmd.Flags().Changed
	rows, err := f.rows(args)
	if err != nil {
		return cli.WrongUsage(err)
	}
	r := campaignRun{flags: f, rows: rows, named: len(args) > 0, err: &lockedWriter{w: cmd.ErrOrStderr()}}
	if err := r.open(); err != nil {
		return cli.WrongUsage(err)
	}
	defer r.close()
	ctx, stop := interruptible(cmd.Context(), r.err)
	defer stop()
	if err := r.run(ctx); err != nil {
		return err
	}
	text := r.table
	if f.hashes {
		text = r.hashes
	}
	if err := cli.Print(cmd, r.results, text); err != nil {
		return err
	}
	if err := r.verdict(); err != nil {
		return err
	}
	return r.behaves()
}

// table writes the results as text.
func (r *campaignRun) table(w io.Writer) error {
	t := cli.NewTable(w)
	t.Row("CAMPAIGN", "SEEDS", "EVENTS", "M EVENTS/S", "TOOK", "VIOLATIONS", "NOT REACHED", "HASH")
	for i := range r.results {
		x := &r.results[i]
		t.Row(x.Name, x.Seeds, grouped(float64(x.Events)), fmt.Sprintf("%.2f", x.EventsPerSecond/1e6), cli.Brief(x.took), x.Violations,
			cli.Dash(strings.Join(x.Missing, "; ")), x.Hash)
	}
	return t.Flush()
}

func (r *campaignRun) hashes(w io.Writer) error {
	for i := range r.results {
		if _, err := fmt.Fprintln(w, r.results[i].Name, r.results[i].Hash); err != nil {
			return err
		}
	}
	return nil
}
