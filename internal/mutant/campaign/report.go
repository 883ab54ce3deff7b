package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/mutant/planted"
)

// summary is the outcome of all kills.
type summary struct {
	planted  int
	killed   int
	survived []string // bugs with a kill that failed, or with none
	median   uint64   // of the seeds of kills in the simulator
	worst    uint64
	worstBy  string
	took     time.Duration
}

func summarize(all []result, bugs []*planted.Mutant, took time.Duration) summary {
	s := summary{planted: len(bugs), took: took}
	noticed, failed := map[string]bool{}, map[string]bool{}
	var seeds []uint64
	for _, r := range all {
		name := r.Mutant.Name
		noticed[name] = noticed[name] || r.killed
		failed[name] = failed[name] || !r.killed
		if r.seeds == 0 {
			continue
		}
		seeds = append(seeds, r.seeds)
		if r.seeds > s.worst {
			s.worst, s.worstBy = r.seeds, name
		}
	}
	for _, m := range bugs {
		if !noticed[m.Name] || failed[m.Name] {
			s.survived = append(s.survived, m.Name)
		}
	}
	s.killed = s.planted - len(s.survived)
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

const format = "%-24s %-17s %-10s %6s  %-23s %7s  %s\n"

func (table) begin() {
	fmt.Printf(format, "MUTANT", "LAYER, RULE", "CHECK", "SEEDS", "WHERE", "TIME", "THE RULE")
}

func (table) row(r result) {
	if !r.killed {
		r.check = "SURVIVED"
	}
	fmt.Printf(format, r.Mutant.Name, r.Mutant.Layer, r.check, r.seedsNeeded(), r.where(), r.took.Round(10*time.Millisecond), r.Mutant.Rule)
	fmt.Print(r.output)
}

func (table) end(s summary) {
	fmt.Printf("\n%d planted, %d killed; seeds: median %d, worst %d (%s); in %v\n",
		s.planted, s.killed, s.median, s.worst, s.worstBy, s.took.Round(time.Second))
	if len(s.survived) > 0 {
		fmt.Println("survived:", s.survived)
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
		CPU     float64 `json:"cpu_seconds"`
		Output  string  `json:"output,omitempty"`
	}{r.Mutant.Name, r.Mutant.Layer, r.Mutant.Rule, r.killed, r.check, r.seeds, r.World, r.Package, r.Test,
		r.took.Seconds(), r.cpu.Seconds(), r.output})
}

func (l lines) end(s summary) {
	l.enc.Encode(struct {
		Planted  int      `json:"planted"`
		Killed   int      `json:"killed"`
		Survived []string `json:"survived"`
		Median   uint64   `json:"median_seeds"`
		Worst    uint64   `json:"worst_seeds"`
		WorstBy  string   `json:"worst_mutant"`
		Seconds  float64  `json:"seconds"`
		OK       bool     `json:"ok"`
	}{s.planted, s.killed, s.survived, s.median, s.worst, s.worstBy, s.took.Seconds(), s.ok()})
}
