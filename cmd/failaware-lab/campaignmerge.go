package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
)

// shardSeeds is how many seeds lie between the first seeds of two shards that run for a
// time, and not for a number of seeds.
const shardSeeds = 1_000_000_000

// maxShard is the largest number of a shard.
const maxShard = 100_000

// mergedResult is the sum of the results of the shards of a campaign.
type mergedResult struct {
	Name             string  `json:"name"`
	Seeds            uint64  `json:"seeds"`
	SimulatedSeconds float64 `json:"simulated_seconds"`
	Events           uint64  `json:"events"`
	Violations       uint64  `json:"violations"`
	// Violation is the first one of each shard that has one.
	Violation []json.RawMessage `json:"violation,omitempty"`
	// Missing lists the situations that no shard has reached.
	Missing     []string `json:"not_reached,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Shards      int      `json:"shards"`
}

// shardResult is the part of a shard's result that is merged.
type shardResult struct {
	mergedResult
	Violation json.RawMessage `json:"violation"`
	First     uint64          `json:"first_seed"` // 0 in results of earlier builds
}

func newCampaignMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge RESULT.json...",
		Short: "Merge the results of shards",
		Long: `Merge the results of shards (campaign run --shard N -o json) by campaign: seeds, events
and violations add up, and a situation counts as reached if any shard has reached it. A file
without results and two shards with the same seeds are refused. The exit code is 1 if a
promise broke, if a situation was not reached, or if a shard was interrupted.`,
		Example: `  failaware-lab campaign run --set test --shard 0 -o json >0.json
  failaware-lab campaign run --set test --shard 1 -o json >1.json
  failaware-lab campaign merge 0.json 1.json`,
		Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := mergeShards(args)
			if err != nil {
				return cli.WrongUsage(err)
			}
			if err := cli.Print(cmd, all, func(w io.Writer) error { return mergedTable(w, all) }); err != nil {
				return err
			}
			if slices.ContainsFunc(all, func(m mergedResult) bool { return m.Violations > 0 || len(m.Missing) > 0 || m.Interrupted }) {
				return cli.Printed(cli.ErrNo)
			}
			return nil
		},
	}
}

// mergeShards merges the results of files, in the order in which campaigns come first.
func mergeShards(files []string) (all []mergedResult, err error) {
	var counted []seedRange
	for _, name := range files {
		list, err := readShard(name)
		if err != nil {
			return nil, err
		}
		for i := range list {
			seeds := seedRange{campaign: list[i].Name, file: name, first: list[i].First, n: max(list[i].Seeds, 1)}
			if other := slices.IndexFunc(counted, seeds.overlaps); other >= 0 {
				return nil, fmt.Errorf("%s has %v, of which %s also has some", name, seeds, counted[other].file)
			}
			counted = append(counted, seeds)
			at := slices.IndexFunc(all, func(m mergedResult) bool { return m.Name == list[i].Name })
			if at < 0 {
				at = len(all)
				all = append(all, mergedResult{Name: list[i].Name, Missing: list[i].Missing})
			}
			all[at].add(&list[i])
		}
	}
	return all, nil
}

// readShard reads the results of a shard, at least one.
func readShard(name string) (list []shardResult, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := json.NewDecoder(bytes.NewReader(resultIn(b))).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s is no output of campaign run -o json: %w", name, err)
	}
	// A shard that was interrupted may have run no seed.
	empty := func(s shardResult) bool { return s.Name == "" || s.Seeds == 0 && s.Violations == 0 && !s.Interrupted }
	if len(list) == 0 || slices.ContainsFunc(list, empty) {
		return nil, fmt.Errorf("%s has no result of a campaign, or an empty one", name)
	}
	return list, nil
}

// seedRange is the seeds of a campaign that a file has the result of.
type seedRange struct {
	campaign, file string
	first, n       uint64 // a first of 0 is unknown
}

func (r seedRange) String() string {
	return fmt.Sprintf("the seeds %d to %d of %s", r.first, r.first+r.n-1, r.campaign)
}

func (r seedRange) overlaps(o seedRange) bool {
	return r.campaign == o.campaign && r.first > 0 && o.first > 0 && (r.first-o.first < o.n || o.first-r.first < r.n)
}

// listBegin matches the first line of a result. A line of progress also begins with a
// bracket.
var listBegin = regexp.MustCompile(`(?m)^\[(\{|$)`)

// resultIn returns the result in the output of a shard, in which standard error may be
// mixed, as in the log of a container.
func resultIn(b []byte) []byte {
	if at := listBegin.FindIndex(b); at != nil {
		return b[at[0]:]
	}
	return b
}

// add adds the result of a shard.
func (m *mergedResult) add(s *shardResult) {
	m.Shards++
	m.Seeds += s.Seeds
	m.SimulatedSeconds += s.SimulatedSeconds
	m.Events += s.Events
	m.Violations += s.Violations
	m.Interrupted = m.Interrupted || s.Interrupted
	if len(s.Violation) > 0 && string(s.Violation) != "null" {
		m.Violation = append(m.Violation, s.Violation)
	}
	m.Missing = slices.DeleteFunc(slices.Clone(m.Missing), func(what string) bool { return !slices.Contains(s.Missing, what) })
}

func mergedTable(w io.Writer, all []mergedResult) error {
	t := cli.NewTable(w)
	t.Row("CAMPAIGN", "SHARDS", "SEEDS", "EVENTS", "VIOLATIONS", "NOT REACHED")
	for _, m := range all {
		t.Row(m.Name, m.Shards, m.Seeds, grouped(float64(m.Events)), m.Violations, cli.Dash(strings.Join(m.Missing, "; ")))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, m := range all {
		for _, v := range m.Violation {
			fmt.Fprintf(w, "%s: %s\n", m.Name, v)
		}
	}
	return nil
}
