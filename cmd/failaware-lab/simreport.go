package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
)

// appendReport adds a section to the file of --report in one write, so that several
// campaigns can share a file.
func (s *simRun) appendReport(now time.Time) error {
	if _, err := s.report.WriteString(s.section(now)); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// section returns the section in Markdown.
func (s *simRun) section(now time.Time) string {
	var b strings.Builder
	t := &s.result.Tally
	say := func(form string, args ...any) { fmt.Fprintf(&b, form+"\n", args...) }
	what := s.flags.world()
	switch {
	case s.flags.replay != "":
		what = "--replay " + s.flags.replay
	case s.flags.topologies > 0:
		what = strings.Replace(what, "--topologies 1", fmt.Sprintf("--topologies %d", s.flags.topologies), 1)
	}
	say("### `%s`\n", what)
	say("%s, commit %s, %s, %d jobs.\n", now.UTC().Format("2006-01-02 15:04 MST"), commit(), runtime.Version(), s.flags.jobs)
	say("| | |\n| --- | ---: |")
	row := func(name, form string, args ...any) { say("| "+name+" | "+form+" |", args...) }
	seeds := fmt.Sprint(t.Seeds)
	if t.Seeds > 0 && s.flags.replay == "" {
		first := s.flags.first
		if s.flags.one() {
			first = s.flags.seed
		}
		seeds += fmt.Sprintf(", from %d", first)
	}
	row("seeds", "%s", seeds)
	row("simulated hours", "%s", hours(t.SimulatedSeconds))
	row("events", "%s", grouped(float64(t.Events)))
	row("rate", "%.2f M events/s, %s times real time", t.EventsPerSecond/1e6, grouped(t.TimesRealTime))
	if t.Cover == 0 {
		row("partitions", "%s", grouped(float64(t.Faults[fault.ClassSplit.String()])))
		row("still periods, missed", "%s, %d", grouped(float64(t.StablePeriods)), t.MissedLiveness)
		row("crashes, restarts", "%s, %s", grouped(float64(t.Crashes)), grouped(float64(t.Restarts)))
	}
	row("**violations**", "**%d**", t.Violations)
	say("")
	if t.Cover == 0 {
		say("Faults: %s.\n", faultsText(t))
		if len(t.Never) > 0 {
			say("Never reached: %s.\n", strings.Join(t.Never, "; "))
		}
	}
	if v := s.broken; v != nil {
		say("Broken: %v\n", v)
	}
	if t.Interrupted {
		say("Interrupted.\n")
	}
	return b.String()
}

func faultsText(t *sim.Tally) string {
	var parts []string
	for c := range fault.Class(fault.Classes) {
		if n := t.Faults[c.String()]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", c, grouped(float64(n))))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func hours(seconds float64) string { return fmt.Sprintf("%.1f", seconds/3600) }

// commit returns the revision of the program, if it is known.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, modified := "", ""
	for _, x := range info.Settings {
		switch {
		case x.Key == "vcs.revision":
			revision = x.Value[:min(12, len(x.Value))]
		case x.Key == "vcs.modified" && x.Value == "true":
			modified = " with changes"
		}
	}
	if revision == "" {
		return "unknown"
	}
	return revision + modified
}
