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

func newMembersCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "members", Short: "List the node and its peers, with the node's knowledge of them",
		Long: `List the node that answers (with a star) and its peers, as that node knows them:

  NAME        its name, and its id if that is no part of the name
  VIEW        the view of which it is a member
  UPTODATE    whether that view is up to date at the node that answers
  LEADER      whether the node that answers supports it as leader
  LEASE-LEFT  for how long it leads at most, unless it renews its lease
  CLOCK±BOUND the node's deviation from group time, and for peers their hardware
              clock against the node's
  DELAY≤      proven bound of the delay of the last packet, or since when there was
              none in time, or "deaf": it does not hear the node that answers, or
              that its settings differ, its packets do not count or none can be sent
              to it: status says why, also if all are unknown
  TAGS        what the nodes say of themselves, if any has a tag
  NOTE        what is wrong besides, if anything is`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := show(g, cmd, "/v1/members", writeMembers)
			return err
		},
	}
}

// nameText returns the name of a node with its id, which commands and events use, unless the name
// has it.
func nameText(m *api.MemberInfo) string {
	if m.Name == "" || m.Node == 0 || m.Name == fmt.Sprintf("node-%d", m.Node) {
		return cli.Dash(m.Name)
	}
	return fmt.Sprintf("%s (%d)", m.Name, m.Node)
}

func writeMembers(w io.Writer, all *api.Members) error {
	t := cli.NewTable(w)
	head := []any{"NAME", "ADDR", "VIEW", "UPTODATE", "LEADER", "LEASE-LEFT", "CLOCK±BOUND", "DELAY≤"}
	tagged := slices.ContainsFunc(all.Members, func(m api.MemberInfo) bool { return len(m.Tags) > 0 })
	if tagged {
		head = append(head, "TAGS")
	}
	noted := slices.ContainsFunc(all.Members, func(m api.MemberInfo) bool { return noteText(&m) != "" })
	if noted {
		head = append(head, "NOTE")
	}
	t.Row(head...)
	for i := range all.Members {
		m := &all.Members[i]
		name, addr := nameText(m), m.Address
		if m.Self {
			name += "*"
		}
		if addr == "" {
			addr = cli.Dash(m.Listed)
		}
		view, fresh, lease := "-", "-", "-"
		if m.InView {
			view, fresh = all.View.ID, cli.YesNo(all.View.UpToDate)
		}
		if m.Leads {
			lease = cli.Brief(all.Leader.AtMostNS)
		}
		row := []any{name, addr, view, fresh, cli.YesNo(m.Leads), lease, offsetText(m, all), delayText(m, all)}
		if tagged {
			row = append(row, cli.Dash(tagText(m.Tags)))
		}
		if noted {
			row = append(row, cli.Dash(noteText(m)))
		}
		t.Row(row...)
	}
	return t.Flush()
}

// forgotText says of a node that it has forgotten promises.
const forgotText = "has forgotten its promises: its state directory was lost, or is an older copy"

// noteText says what is wrong with a node, besides what the other columns tell.
func noteText(m *api.MemberInfo) string {
	var notes []string
	if m.Forgot {
		notes = append(notes, forgotText)
	}
	if m.Foreign != "" {
		notes = append(notes, inFlags(m.Foreign))
	}
	if m.LaggingNS > 0 {
		notes = append(notes, "holds up the broadcast for "+cli.Brief(m.LaggingNS)+": it acknowledges nothing")
	}
	if m.MissingNS > 0 {
		notes = append(notes, "its messages have not come for "+cli.Brief(m.MissingNS)+": large packets are lost")
	}
	return strings.Join(notes, "; ")
}

// tagText formats tags in the order of their keys.
func tagText(tags map[string]string) string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, key+"="+tags[key])
	}
	return strings.Join(list, " ")
}

// offsetText formats the difference of two clocks as a middle and a half width.
func offsetText(m *api.MemberInfo, all *api.Members) string {
	if m.Self {
		if all.Clock.DeviationNS == nil {
			return "unknown"
		}
		return "±" + cli.BriefUp(*all.Clock.DeviationNS)
	}
	if m.OffsetLowNS == nil || m.OffsetHighNS == nil {
		return "unknown"
	}
	low, high := *m.OffsetLowNS, *m.OffsetHighNS
	return fmt.Sprintf("%s±%s", cli.Brief(low+(high-low)/2), cli.BriefUp((high-low+1)/2))
}

func delayText(m *api.MemberInfo, all *api.Members) string {
	switch {
	case m.Self:
		return "-"
	case all.AgeNS < 0:
		return "unknown" // the loop does not answer
	case m.Problem != "" && m.Address == "":
		return "unresolved"
	case m.Mismatch != "":
		return "settings differ"
	case m.Fault:
		return "clock fault"
	case !m.Alive && m.Refused != "":
		return cmp.Or(m.Ignored, "does not count")
	case !m.Alive && m.Unsent != "":
		return "cannot send"
	case m.Refuses:
		return "refuses"
	case m.Deaf:
		return "deaf"
	case !m.Alive && m.LastFastNS != nil:
		return "silent " + cli.Brief(*m.LastFastNS)
	case !m.Alive:
		return "silent"
	}
	if m.DelayNS == nil {
		return "unknown"
	}
	return cli.BriefUp(*m.DelayNS)
}
