package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
)

func newStatusCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Shows everything about a node", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var s api.Status
			if err := g.ask(cmd.Context(), "/v1/status", &s); err != nil {
				return err
			}
			if done, err := writeJSON(cmd.OutOrStdout(), g.output, s); done {
				return err
			}
			return writeStatus(cmd.OutOrStdout(), &s)
		},
	}
}

func writeStatus(w io.Writer, s *api.Status) error {
	t := newTable(w)
	t.row("node", fmt.Sprintf("%d (%s) of group %s at %s", s.Node, s.Name, s.Group, s.Address))
	t.row("process", fmt.Sprintf("%d, version %s, boot %s, incarnation %d", s.PID, s.Version, s.Boot, s.Incarnations))
	t.row("state", stateText(s))
	t.row("leader", leaderText(&s.Leader, s.Node))
	t.row("view", viewText(&s.View))
	t.row("clock", clockText(&s.Clock))
	t.row("alive", fmt.Sprintf("%s of %d peers", setText(s.Alive), len(s.Members)-1))
	t.row("lateness", fmt.Sprintf("average %s, most %s; %d of %d timers later than %s", brief(s.Lateness.AverageNS),
		briefUp(s.Lateness.MaxNS), s.Lateness.Late, s.Lateness.Timers, brief(s.Timing.SchedulingDelayNS)))
	if s.Awake {
		t.row("processors", "kept from sleeping")
	}
	t.row("guarantees", fmt.Sprintf("notice %s, depose %s, elect %s, view %s", briefUp(s.Bounds.NoticeNS),
		briefUp(s.Bounds.DeposeNS), briefUp(s.Bounds.ElectNS), briefUp(s.Bounds.ViewNS)))
	for _, m := range s.Members {
		if m.Problem != "" {
			t.row("problem", fmt.Sprintf("%s: %s", m.Listed, m.Problem))
		}
	}
	for _, name := range slices.Sorted(mapKeys(s.Counters)) {
		if s.Counters[name] > 0 {
			t.row("counter", fmt.Sprintf("%s %d", name, s.Counters[name]))
		}
	}
	return t.Flush()
}

func mapKeys(m map[string]uint64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func stateText(s *api.Status) string {
	text := "waits until earlier votes are surely over"
	switch {
	case s.Stopped:
		text = "stopped"
		if s.Error != "" {
			text += ": " + s.Error
		}
	case s.Waiting != "":
		text = "waits before a new incarnation: " + s.Waiting
	case s.Leaving:
		text = "leaves"
	case s.Ready:
		text = "ready"
	}
	if s.AgeNS < 0 {
		text += " (its loop does not answer)"
	}
	return text
}

// freshText says whether an answer is up to date, and for how long.
func freshText(upToDate bool, validForNS int64) string {
	if !upToDate {
		return "not up to date"
	}
	return "valid for " + brief(validForNS)
}

func leaderText(l *api.Leader, self int) string {
	switch {
	case l.Leads && self != 0:
		return fmt.Sprintf("node %d, this one, supported by %s; %s", l.Leader, setText(l.Support), freshText(l.UpToDate, l.ValidForNS))
	case l.Leads:
		return fmt.Sprintf("node %d, the one that answers, supported by %s; %s", l.Leader, setText(l.Support), freshText(l.UpToDate, l.ValidForNS))
	case l.Leader != 0:
		return fmt.Sprintf("node %d; %s", l.Leader, freshText(l.UpToDate, l.ValidForNS))
	}
	return "none is known"
}

func viewText(v *api.View) string {
	if v.ID == "" {
		return "none yet"
	}
	return fmt.Sprintf("%s with members %s; %s", v.ID, setText(memberIDs(v.Members)), freshText(v.UpToDate, v.ValidForNS))
}

func memberIDs(members []api.Member) []int {
	ids := make([]int, len(members))
	for i, m := range members {
		ids[i] = m.Node
	}
	return ids
}

func clockText(c *api.Clock) string {
	bound := "with an unknown deviation"
	if c.DeviationNS != nil {
		bound = "±" + briefUp(*c.DeviationNS)
	}
	text := fmt.Sprintf("%s %s, %s", c.Time, bound, c.Status)
	if c.UTCBoundNS != nil {
		text += ", UTC ±" + briefUp(*c.UTCBoundNS)
	}
	if c.Leap != "" && c.Leap != "none" {
		text += ", leap second: " + c.Leap
	}
	if c.Timeline != "" {
		text += ", timeline " + c.Timeline
	}
	if c.Holdover {
		text += ", in holdover"
	}
	return text + "; " + freshText(c.UpToDate, c.ValidForNS)
}
