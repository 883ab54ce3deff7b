package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

func newStatusCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show everything about a node", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := show(g, cmd, "/v1/status", writeStatus)
			return err
		},
	}
}

// lateNow says so if the node is late now.
func lateNow(s *api.Status) string {
	for i := range s.Members {
		if m := &s.Members[i]; m.Self && m.Late {
			return "; late now"
		}
	}
	return ""
}

func writeStatus(w io.Writer, s *api.Status) error {
	t := cli.NewTable(w)
	t.Row("node", fmt.Sprintf("%d (%s) of group %s at %s", s.Node, s.Name, s.Group, s.Address))
	if len(s.Tags) > 0 {
		t.Row("tags", tagText(s.Tags))
	}
	process := fmt.Sprintf("%d, version %s", s.PID, s.Version)
	if s.AgeNS >= 0 {
		process += fmt.Sprintf(", boot %s, incarnation %d", s.Boot, s.Incarnations)
	}
	t.Row("process", process)
	t.Row("state", stateText(s))
	t.Row("leader", leaderTextAt(&s.Leader, "this one"))
	if s.Global.Quorum != "" {
		t.Row("global", fmt.Sprintf("%s, epoch %d%s", globalText(&s.Global), s.Global.Epoch, missingText(s.Global.Missing)))
	}
	t.Row("view", viewText(&s.View))
	t.Row("clock", clockText(&s.Clock))
	if s.AgeNS >= 0 {
		writeLoop(t, s)
	}
	if s.Awake {
		t.Row("processors", "kept from sleeping")
	}
	t.Row("guarantees", fmt.Sprintf("notice %s, depose %s, elect %s, view %s", cli.BriefUp(s.Bounds.NoticeNS),
		cli.BriefUp(s.Bounds.DeposeNS), cli.BriefUp(s.Bounds.ElectNS), cli.BriefUp(s.Bounds.ViewNS)))
	for _, j := range s.Join {
		t.Row("join", joinText(&j, whyAlone(s, &j)))
	}
	for _, m := range s.Members {
		if m.Problem != "" {
			t.Row("problem", fmt.Sprintf("%s: %s", m.Listed, m.Problem))
		}
		if m.Unsent != "" {
			t.Row("problem", fmt.Sprintf("%s: %s", cmp.Or(m.Name, m.Listed), m.Unsent))
		}
		if note := noteText(&m); note != "" {
			t.Row("problem", fmt.Sprintf("%s: %s", m.Name, note))
		}
		if m.Mismatch != "" {
			t.Row("ignored", fmt.Sprintf("%s: %s", cli.Dash(m.Name), inFlags(m.Mismatch)))
		} else if m.Refused != "" {
			t.Row("ignored", fmt.Sprintf("%s: its packets do not count: %s", cmp.Or(m.Listed, m.Address), inFlags(m.Refused)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		if s.Counters[name] > 0 {
			t.Row("counter", fmt.Sprintf("%s %d", name, s.Counters[name]))
		}
	}
	return t.Flush()
}

// writeLoop writes what only the loop of the node knows.
func writeLoop(t *cli.Table, s *api.Status) {
	t.Row("alive", fmt.Sprintf("%s of %d peers", setText(s.Alive), len(s.Members)-1))
	t.Row("lateness", fmt.Sprintf("average %s, most %s; %d of %d timers later than %s", cli.Brief(s.Lateness.AverageNS),
		cli.BriefUp(s.Lateness.MaxNS), s.Lateness.Late, s.Lateness.Timers, cli.Brief(s.Timing.SchedulingDelayNS))+lateNow(s))
}

// whyAlone says why no node at the addresses of a place is a member, or "" if the node hears
// members.
func whyAlone(s *api.Status, j *api.Join) string {
	if s.AgeNS < 0 || len(s.Alive) > 0 {
		return ""
	}
	if j.Self {
		return "that is this node itself"
	}
	for _, m := range s.Members {
		if (m.Mismatch != "" || m.Refused != "") && slices.Contains(j.Addresses, m.Address) {
			return "a node answers, and is ignored, as the next lines say"
		}
	}
	if j.Unsent != "" {
		return "no member answers: " + j.Unsent
	}
	return "no member answers: " + noAnswer
}

// joinText says what a place at which members may be found has led to; alone says why the
// node hears nobody.
func joinText(j *api.Join, alone string) string {
	text := fmt.Sprintf("%s: %s", j.Source, cli.Dash(strings.Join(j.Addresses, ", ")))
	if why := cmp.Or(j.Problem, alone); why != "" {
		text += "; " + why
	}
	return text
}

func stateText(s *api.Status) string {
	text := "waits until its earlier votes have surely expired"
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
	case s.AgeNS < 0:
		text = "its loop does not answer: it waits for a disk or a processor, and peers are not known"
	case s.Ready:
		text = "ready"
	}
	return text
}

// setText formats ids as a set.
func setText(ids []int) string {
	return "{" + strings.Trim(fmt.Sprint(ids), "[]") + "}"
}

// freshText formats whether an answer is up to date, and for how long at most.
func freshText(upToDate bool, atMostNS int64) string {
	if !upToDate {
		return "not up to date"
	}
	return "up to date for at most " + cli.Brief(atMostNS)
}

func leaderText(l *api.Leader) string { return leaderTextAt(l, "the one that answers") }

// leaderTextAt is leaderText, with a phrase for the node that answers.
func leaderTextAt(l *api.Leader, self string) string {
	switch {
	case l.Leads:
		return fmt.Sprintf("%s, %s, supported by %s; %s", nodeText(l.Leader, l.Name), self, setText(l.Support), freshText(l.UpToDate, l.AtMostNS))
	case l.Leader != 0:
		return fmt.Sprintf("%s; %s", nodeText(l.Leader, l.Name), freshText(l.UpToDate, l.AtMostNS))
	}
	return "none is known"
}

// nodeText names a node by its id and, if it has given itself one, its name.
func nodeText(id int, name string) string {
	if name == "" || name == fmt.Sprintf("node-%d", id) {
		return fmt.Sprintf("node %d", id)
	}
	return fmt.Sprintf("node %d (%s)", id, name)
}

func viewText(v *api.View) string {
	if v.ID == "" {
		return "none yet"
	}
	return fmt.Sprintf("%s with members %s; %s", v.ID, setText(memberIDs(v.Members)), freshText(v.UpToDate, v.AtMostNS))
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
		bound = "±" + cli.BriefUp(*c.DeviationNS)
	}
	text := fmt.Sprintf("%s %s, %s", c.Time, bound, c.Status)
	if c.UTCBoundNS != nil {
		text += ", UTC ±" + cli.BriefUp(*c.UTCBoundNS)
	} else if c.UTCProblem == "" { // nobody asks references
		text += ", UTC is not known"
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
	if c.UTCProblem != "" {
		text += "; " + c.UTCProblem
	}
	if c.Problem != "" {
		text += "; " + c.Problem
	}
	if !c.UpToDate {
		return text + "; not up to date"
	}
	return text + "; valid for " + cli.Brief(c.ValidForNS)
}
