//go:build mutants

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/mutant"
)

// summary is what came of all rows.
type summary struct {
	planted  int
	killed   int
	survived []mutant.ID // some row of theirs failed, or they have none
	median   uint64      // of the seeds of the rows that have some
	worst    uint64
	worstID  mutant.ID
	took     time.Duration
}

func summarize(all []result, planted int, took time.Duration) summary {
	s := summary{planted: planted, took: took}
	rows, failed := map[mutant.ID]int{}, map[mutant.ID]bool{}
	var seeds []uint64
	for _, r := range all {
		rows[r.Mutant]++
		failed[r.Mutant] = failed[r.Mutant] || !r.killed
		if r.seeds == 0 {
			continue
		}
		seeds = append(seeds, r.seeds)
		if r.seeds > s.worst {
			s.worst, s.worstID = r.seeds, r.Mutant
		}
	}
	for id := mutant.ID(1); int(id) <= planted; id++ {
		if rows[id] == 0 || failed[id] {
			s.survived = append(s.survived, id)
		}
	}
	s.killed = planted - len(s.survived)
	if slices.Sort(seeds); len(seeds) > 0 {
		s.median = seeds[len(seeds)/2]
	}
	return s
}

func (s summary) ok() bool { return len(s.survived) == 0 && s.median <= mostSeeds }

// printer shows rows as they come, and the summary.
type printer interface {
	begin()
	row(result)
	end(summary)
}

func newPrinter(form string) printer {
	if form == "json" {
		return lines{json.NewEncoder(os.Stdout)}
	}
	return table{}
}

type table struct{}

const format = "%-21s %-12s %-52s %-10s %6v  %-23s %7s\n"

func (table) begin() {
	fmt.Printf(format, "MUTANT", "LAYER, RULE", "WHAT IT LEAVES OUT", "CHECK", "SEEDS", "WORLD", "TIME")
}

func (table) row(r result) {
	var seeds any = "–"
	if r.seeds > 0 {
		seeds = r.seeds
	}
	if !r.killed {
		r.check = "SURVIVED"
	}
	where := r.World
	if where == "" {
		where = "package " + r.Package
	}
	fmt.Printf(format, r.Mutant, r.Mutant.Layer(), r.Mutant.Rule(), r.check, seeds, where, r.took.Round(10*time.Millisecond))
	fmt.Print(r.output)
}

func (table) end(s summary) {
	fmt.Printf("\n%d planted, %d killed, median %d seeds, worst %d (%v), in %v\n",
		s.planted, s.killed, s.median, s.worst, s.worstID, s.took.Round(time.Second))
	if len(s.survived) > 0 {
		fmt.Println("survived, or in no row of the table:", s.survived)
	}
	if s.median > mostSeeds {
		fmt.Printf("the median is above %d seeds\n", mostSeeds)
	}
}

// lines prints an object for each row and one for the summary.
type lines struct{ enc *json.Encoder }

func (lines) begin() {}

func (l lines) row(r result) {
	l.enc.Encode(struct {
		Mutant  string  `json:"mutant"`
		Layer   string  `json:"layer"`
		Rule    string  `json:"rule"`
		Killed  bool    `json:"killed"`
		Check   string  `json:"check"`
		Seeds   uint64  `json:"seeds,omitempty"`
		World   string  `json:"world,omitempty"`
		Package string  `json:"package"`
		Test    string  `json:"test"`
		Seconds float64 `json:"seconds"`
		Output  string  `json:"output,omitempty"`
	}{r.Mutant.String(), r.Mutant.Layer(), r.Mutant.Rule(), r.killed, r.check, r.seeds, r.World, r.Package, r.Test,
		r.took.Seconds(), r.output})
}

func (l lines) end(s summary) {
	survived := make([]string, len(s.survived))
	for i, id := range s.survived {
		survived[i] = id.String()
	}
	l.enc.Encode(struct {
		Planted  int      `json:"planted"`
		Killed   int      `json:"killed"`
		Survived []string `json:"survived"`
		Median   uint64   `json:"median_seeds"`
		Worst    uint64   `json:"worst_seeds"`
		WorstBy  string   `json:"worst_mutant"`
		Seconds  float64  `json:"seconds"`
		OK       bool     `json:"ok"`
	}{s.planted, s.killed, survived, s.median, s.worst, s.worstID.String(), s.took.Seconds(), s.ok()})
}
