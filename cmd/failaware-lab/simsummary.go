package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
)

// print writes the result: text, and in its last line the JSON object for scripts; or
// the JSON object alone.
func (s *simRun) print() error {
	if s.output != cli.AsTable {
		return cli.WriteJSON(s.out, s.output, &s.result)
	}
	if s.flags.trace {
		fmt.Fprintf(s.out, "trace hash %s\n", s.result.Hash)
	}
	if shrunk := s.result.Shrunk; shrunk != nil {
		for _, fault := range shrunk.Faults {
			fmt.Fprintln(s.out, fault)
		}
	}
	if !s.flags.trace {
		s.summary(s.out)
	}
	return cli.WriteJSON(s.out, cli.AsNDJSON, &s.result)
}

// summary writes the result as text.
func (s *simRun) summary(w io.Writer) {
	t := &s.result.Tally
	fmt.Fprintf(w, "%s simulated in %s: %.0f times real time, %.2f M events/s\n", s.amount(), cli.Brief(s.took), t.TimesRealTime, t.EventsPerSecond/1e6)
	rows := cli.NewTable(w)
	rows.Row("violations", t.Violations)
	if t.Cover > 0 {
		rows.Row("groups", fmt.Sprintf("%d, minimum clique covers %d", t.Groups, t.Cover))
		rows.Row("last change of a leader", fmt.Sprintf("%v ms after all were ready, at most", t.WorstSettleMS))
	} else if t.StablePeriods > 0 {
		rows.Row("still periods", fmt.Sprintf("%d, of which %d were not led or fresh in time", t.StablePeriods, t.MissedLiveness))
		within := func(worst, bound float64) string {
			return fmt.Sprintf("after %v ms at most; the bound is %v ms, %v ms more after a restart", worst, bound, t.RejoinMS)
		}
		rows.Row("leaders", within(t.WorstElectionMS, t.BoundElectionMS))
		rows.Row("views of all", within(t.WorstViewMS, t.BoundViewMS))
	}
	rows.Row("led, fresh", fmt.Sprintf("%.1f %%, %.1f %% of the time of running nodes", 100*t.Led, 100*t.Fresh))
	if t.Cover == 0 {
		rows.Row("elections, views", fmt.Sprintf("%d, %d", t.Elections, t.Views))
		rows.Row("crashes, restarts", fmt.Sprintf("%d, %d", t.Crashes, t.Restarts))
		rows.Row("packets", fmt.Sprintf("%d lost, %d late, %d repeated, %d corrupted, %d forged", t.Lost, t.Late, t.Repeated, t.Corrupted, t.Forged))
	}
	_ = rows.Flush()
	if t.Cover == 0 {
		s.counts(w)
	}
	if t.Interrupted {
		fmt.Fprintln(w, "interrupted")
	}
}

// counts writes the number of faults by class and of situations reached.
func (s *simRun) counts(w io.Writer) {
	t := &s.result.Tally
	fmt.Fprintln(w, "faults that struck")
	rows := cli.NewTable(w)
	for c := range fault.Class(fault.Classes) {
		if n := t.Faults[c.String()]; n > 0 {
			rows.Row(fmt.Sprintf("  %10d", n), c)
		}
	}
	_ = rows.Flush()
	fmt.Fprintln(w, "situations reached")
	rows = cli.NewTable(w)
	for x := range situation.Kind(situation.Count) {
		if n := t.Sometimes[x.String()]; n > 0 {
			rows.Row(fmt.Sprintf("  %10d", n), x)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(t.Reached)) {
		rows.Row(fmt.Sprintf("  %10d", t.Reached[what]), what)
	}
	for _, what := range t.Never {
		rows.Row(fmt.Sprintf("  %10s", "NEVER"), what)
	}
	_ = rows.Flush()
}

// amount returns the number of seeds and the simulated time.
func (s *simRun) amount() string {
	t := &s.result.Tally
	seeds := fmt.Sprintf("%d seeds", t.Seeds)
	switch {
	case s.flags.replay != "":
		seeds = "the case"
	case t.Seeds == 1:
		seeds = "1 seed"
	}
	return fmt.Sprintf("%s, %s s", seeds, grouped(t.SimulatedSeconds))
}

// grouped formats a number with commas between thousands, and small numbers with four
// significant digits.
func grouped(x float64) string {
	if x < 1000 {
		return fmt.Sprintf("%.4g", x)
	}
	digits := fmt.Sprintf("%.0f", x)
	out := digits[:(len(digits)-1)%3+1]
	for i := len(out); i < len(digits); i += 3 {
		out += "," + digits[i:i+3]
	}
	return out
}
