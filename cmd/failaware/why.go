package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

func newWhyCommand(g *globals) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "why leader|view|clock|NODE", Short: "Explain why the leader, the view, the clock or a peer is as it is",
		Long: `Explain the present state by the latest events: what happened, which message or silence
of which node led to it, and by which rule with which of the settings.`,
		Example: `  # why is the view stale, or who came and left?
  failaware why view
  # why was node 3 dropped?
  failaware why 3`,
		Args: cli.Args, ValidArgs: api.WhySubjects(),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := args[0]
			if !slices.Contains(api.WhySubjects(), about) {
				var err error
				if about, err = g.nodeID(cmd, "why", about, api.WhySubjects()...); err != nil {
					return err
				}
			}
			_, err := show(g, cmd, "/v1/why?about="+about, func(w io.Writer, a *api.Why) error { return writeWhy(w, a, all) })
			return inWords(err, "about", "why")
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show all causes that the node keeps, not only the latest three")
	return cmd
}

// shownCauses is how many causes are shown without --all.
const shownCauses = 3

func writeWhy(w io.Writer, a *api.Why, all bool) error {
	causes := a.Causes
	if !all && len(causes) > shownCauses {
		causes = causes[:shownCauses]
	}
	if _, err := fmt.Fprintln(w, inFlags(a.State)); err != nil {
		return err
	}
	if len(causes) == 0 {
		_, err := fmt.Fprintln(w, "nothing has happened to it since the node was started")
		return err
	}
	for i := range causes {
		c := &causes[i]
		fmt.Fprintf(w, "\n%s  %s\n", clockTime(c.Event.Time), inFlags(c.Event.Text))
		for j := range c.Because {
			b := &c.Because[j]
			fmt.Fprintf(w, "  because %s  %s\n", clockTime(b.Time), inFlags(b.Text))
		}
		if c.Rule != "" {
			fmt.Fprintf(w, "  rule    %s\n", c.Rule)
		}
	}
	if left := len(a.Causes) - len(causes); left > 0 {
		_, err := fmt.Fprintf(w, "\n%d earlier causes: --all shows them\n", left)
		return err
	}
	return nil
}

// clockTime formats the time of an event of this run.
func clockTime(t time.Time) string { return t.Local().Format("15:04:05.000") }
