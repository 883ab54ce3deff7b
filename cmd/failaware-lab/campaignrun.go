package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"time"

	"github.com/failaware/failaware/internal/campaign"
	"github.com/failaware/failaware/internal/cli"
)

// campaignRun is one call of the command that runs campaigns.
type campaignRun struct {
	flags   *campaignFlags
	rows    []campaign.Campaign
	err     io.Writer
	report  *os.File // nil: none
	results []campaignResult
	problem error // after the runs, such as a file that could not be written

	named  bool               // the rows were asked for by name
	former campaign.Behaviour // of the file of --behaviour
}

// campaignResult is the JSON form of the result of a campaign.
type campaignResult struct {
	Name  string `json:"name"`
	First uint64 `json:"first_seed"`
	simResult
	// Missing lists the situations that the campaign must reach, and has not.
	Missing []string `json:"not_reached,omitempty"`

	took time.Duration
}

func (r *campaignRun) open() (err error) {
	for i := range r.rows {
		if _, err := r.first(&r.rows[i]); err != nil {
			return err
		}
	}
	if err := r.openBehaviour(); err != nil {
		return err
	}
	if r.flags.report == "" {
		return nil
	}
	if r.report, err = openReport(r.flags.report); err != nil || r.flags.time == 0 {
		return err
	}
	_, err = fmt.Fprintf(r.report, "\n## %s: %v\n\n", time.Now().UTC().Format(time.DateOnly), r.flags.time)
	return err
}

func (r *campaignRun) close() {
	if r.report != nil {
		_ = r.report.Close()
	}
}

// run runs the campaigns until the end, or until ctx is done.
func (r *campaignRun) run(ctx context.Context) error {
	weights := 0
	for i := range r.rows {
		weights += max(r.rows[i].Long, 1)
	}
	for i := range r.rows {
		if ctx.Err() != nil {
			break
		}
		row := &r.rows[i]
		share := r.flags.time * time.Duration(max(row.Long, 1)) / time.Duration(weights)
		if err := r.one(ctx, row, fmt.Sprintf("[%d/%d] %s", i+1, len(r.rows), row.Name), share); err != nil {
			return err
		}
	}
	return nil
}

// one runs one campaign.
func (r *campaignRun) one(ctx context.Context, row *campaign.Campaign, label string, share time.Duration) error {
	f := r.flags
	seeds := r.seeds(row)
	first, err := r.first(row)
	if err != nil {
		return err
	}
	s := simRun{label: label, opt: row.Options, out: io.Discard, err: r.err, report: r.report,
		flags: &simFlags{row: row, first: first, seeds: seeds, time: share, jobs: f.jobs, quiet: f.quiet, shrink: f.shrink && row.Play == nil,
			given: func(flag string) bool { return flag == "seeds" }}}
	problem, err := s.perform(ctx)
	if err != nil {
		return err
	}
	r.problem = errors.Join(r.problem, problem)
	x := campaignResult{Name: row.Name, First: first, simResult: s.result, Missing: row.Missing(&s.result.Tally), took: s.took}
	x.Never = nil // Missing lists the relevant ones
	for _, what := range x.Missing {
		fmt.Fprintf(r.err, "failaware-lab: %s: never reached: %s\n", row.Name, what)
	}
	if !f.quiet {
		fmt.Fprintf(r.err, "%s: %d seeds in %s, %.2f M events/s, %d violations\n", label, x.Seeds, cli.Brief(x.took), x.EventsPerSecond/1e6, x.Violations)
	}
	r.results = append(r.results, x)
	return nil
}

// seeds returns how many seeds of a campaign are run; 0 for as many as there is
// time for.
func (r *campaignRun) seeds(row *campaign.Campaign) uint64 {
	set := r.flags.set.Value
	switch n := row.Seeds(set); {
	case r.flags.seeds > 0:
		return r.flags.seeds
	case n > 0:
		return n
	case set == campaign.Long:
		return 0
	}
	return row.Seeds(campaign.All)
}

// first returns the first seed of a campaign, or an error if there are not enough seeds from
// there on.
func (r *campaignRun) first(row *campaign.Campaign) (uint64, error) {
	n := cmp.Or(r.seeds(row), shardSeeds)
	over, before := bits.Mul64(r.flags.shard, n)
	first, carry := bits.Add64(r.flags.first, before, 0)
	if over > 0 || carry > 0 || first > math.MaxUint64-(n-1) {
		return 0, fmt.Errorf("--first-seed, --shard: the seeds of %s end beyond the largest one", row.Name)
	}
	return first, nil
}

// verdict returns the error for the exit code.
func (r *campaignRun) verdict() error {
	broken, missing := false, false
	for i := range r.results {
		broken = broken || r.results[i].Violation != nil
		missing = missing || len(r.results[i].Missing) > 0
	}
	switch {
	case r.problem != nil:
		return cli.No(r.problem)
	case broken:
		return cli.Printed(errViolation)
	case len(r.results) < len(r.rows) || r.results[len(r.results)-1].Interrupted:
		return cli.Printed(context.Canceled)
	case missing:
		return cli.Printed(cli.ErrNo)
	}
	return nil
}
