package lab

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Line is a row as programs read it. Times are in nanoseconds.
type Line struct {
	Scenario            string     `json:"scenario"`
	Algorithm           string     `json:"algorithm"`
	Seeds               int        `json:"seeds"`
	SimulatedNs         int64      `json:"simulated_ns"`
	Elections           int        `json:"elections"`
	MessagesPerElection float64    `json:"messages_per_election"`
	TimeToElectNs       int64      `json:"time_to_elect_ns"`
	WorstElectNs        int64      `json:"worst_elect_ns"`
	Relapses            int        `json:"relapses"` // as in [Measure]
	ChangesPerHour      float64    `json:"leader_changes_per_hour"`
	Led                 float64    `json:"led"`                // share of process-time, 0 to 1
	TwoLeaders          float64    `json:"two_leaders"`        // share of time with two leaders connected for κ
	TwoLeadersAny       float64    `json:"two_leaders_at_all"` // share of time with two connected leaders
	MessagesPerSecond   float64    `json:"messages_per_second"`
	Specs               []SpecLine `json:"specifications"`
}

// SpecLine is a [Tally] as programs read it.
type SpecLine struct {
	Name     SpecName `json:"name"`
	Promised bool     `json:"promised"`
	Tested   int      `json:"tested"`
	Violated int      `json:"violated"`
	First    uint64   `json:"first_seed,omitempty"`
	AtNs     int64    `json:"at_ns,omitempty"`
	Detail   string   `json:"detail,omitempty"`
}

// Line returns the row as programs read it.
func (r *Row) Line() Line {
	l := Line{Scenario: r.Scenario, Algorithm: r.Algorithm, Seeds: r.Seeds, SimulatedNs: int64(r.Simulated), Elections: r.Elections,
		MessagesPerElection: r.MessagesPerElection(), TimeToElectNs: int64(r.TimeToElect()), WorstElectNs: int64(r.Worst), Relapses: r.Relapses,
		ChangesPerHour: r.ChangesPerHour(), Led: r.LedShare(), TwoLeaders: r.TwoShare(), TwoLeadersAny: r.TwoAnyShare(),
		MessagesPerSecond: r.MessagesPerSecond()}
	for _, t := range r.Specs {
		l.Specs = append(l.Specs, SpecLine{t.Spec, t.Promised, t.Tested, t.Violated, t.First, int64(t.At), t.Detail})
	}
	return l
}

// Verdict returns the text in a table about a specification: kept, untested, or the
// first seed that violates it; with an exclamation mark if it was promised.
func (t *Tally) Verdict() string {
	switch {
	case t.Violated > 0 && t.Promised:
		return fmt.Sprintf("VIOLATED by %d of %d, first by seed %d!", t.Violated, t.Tested, t.First)
	case t.Violated > 0:
		return fmt.Sprintf("violated by %d, first by seed %d", t.Violated, t.First)
	case t.Tested == 0:
		return "untested"
	}
	return "kept"
}

// Broken lists the specifications that are not kept, with the first seed of each:
// "BI 3, uniqueness 1"; one that was promised has an exclamation mark.
func (r *Row) Broken() string {
	var parts []string
	for _, t := range r.Specs {
		if t.Violated > 0 {
			mark := ""
			if t.Promised {
				mark = "!"
			}
			parts = append(parts, fmt.Sprintf("%s%s %d", t.Spec, mark, t.First))
		}
	}
	return strings.Join(parts, ", ")
}

// WriteCSV writes the rows as comma-separated values, with a line of names.
// Times are in milliseconds; each specification has a column with its verdict.
func WriteCSV(w io.Writer, rows []Row) error {
	head := []string{"scenario", "algorithm", "seeds", "elections", "messages_per_election", "time_to_elect_ms", "worst_elect_ms", "relapses",
		"leader_changes_per_hour", "led", "two_leaders", "two_leaders_at_all", "messages_per_second"}
	for _, name := range Specs() {
		head = append(head, string(name))
	}
	table := [][]string{head}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	ms := func(d time.Duration) string { return number(float64(d) / 1e6) }
	for i := range rows {
		r := &rows[i]
		cells := []string{r.Scenario, r.Algorithm, strconv.Itoa(r.Seeds), strconv.Itoa(r.Elections), number(r.MessagesPerElection()), ms(r.TimeToElect()),
			ms(r.Worst), strconv.Itoa(r.Relapses), number(r.ChangesPerHour()), number(r.LedShare()), number(r.TwoShare()), number(r.TwoAnyShare()),
			number(r.MessagesPerSecond())}
		for j := range r.Specs {
			cells = append(cells, r.Specs[j].Verdict())
		}
		table = append(table, cells)
	}
	return csv.NewWriter(w).WriteAll(table)
}
