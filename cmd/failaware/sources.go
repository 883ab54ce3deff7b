package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

func newSourcesCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "sources", Short: "List the external references of time, and which of them are falsetickers", Args: cobra.NoArgs,
		Long: `List the references that the node asks and, at a leader, those of other nodes.

  VERDICT good, falseticker, disputed (no majority agrees), unjudged (UTC is not known,
          or too few are left to judge; a line below says why), none (no valid sample)
  REACH   for each of the last eight requests whether it was answered, the latest at the right
  EVERY   the time between two requests, longer while none is answered
  OFFSET  the middle of the reference's interval minus the time of the node
  BOUND   half the width of the interval, now
  ERROR   the error that the reference claims`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := show(g, cmd, "/v1/clock/sources", writeSources)
			return err
		},
	}
}

func writeSources(w io.Writer, s *api.Sources) error {
	if len(s.Sources) == 0 {
		_, err := fmt.Fprintln(w, "no references")
		return err
	}
	t := cli.NewTable(w)
	t.Row("NAME", "NODE", "VERDICT", "OFFSET", "BOUND", "AGE", "REACH", "EVERY", "DELAY", "ERROR", "SAMPLES", "REJECTED", "LAST PROBLEM")
	for i := range s.Sources {
		x := &s.Sources[i]
		row := []any{cmp.Or(x.Name, x.Source), fmt.Sprint(x.Node), x.Verdict, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"}
		if x.OffsetNS != nil {
			row[3], row[4], row[5] = cli.Brief(*x.OffsetNS), cli.BriefUp(*x.BoundNS), cli.Brief(*x.AgeNS)
		}
		if x.Own {
			row[6] = strings.NewReplacer("0", ".", "1", "x").Replace(fmt.Sprintf("%08b", x.Reach))
			row[7] = cli.Brief(x.PollNS)
			row[10], row[11], row[12] = fmt.Sprint(x.Samples), fmt.Sprint(x.Rejected), cmp.Or(x.Error, x.Reason, "-")
			if x.Samples > 0 {
				row[8], row[9] = cli.Brief(x.DelayNS), cli.BriefUp(x.DistanceNS)
			}
		}
		t.Row(row...)
	}
	if err := t.Flush(); err != nil || s.UTCProblem == "" {
		return err
	}
	_, err := fmt.Fprintln(w, s.UTCProblem)
	return err
}
