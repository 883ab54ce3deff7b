package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
)

func newFindCommand(g *globals) *cobra.Command {
	var global bool
	cmd := &cobra.Command{
		Use: "find", Short: "Search for the leader from node to node; the exit code is 1 if none is found", Args: cobra.NoArgs,
		Long: `Ask the node that this one follows whether it leads, then the node that that one
follows, and so on, until a node answers that it leads. Unlike the output of 'failaware
leader', this is the leader's own answer, which holds for as long as it says.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := show(g, cmd, fmt.Sprintf("/v1/leader/find?global=%t", global), line("", verificationText))
			return cli.Verdict(err, v.GlobalNS > 0 || !global && v.LocalNS > 0)
		},
	}
	cmd.Flags().BoolVar(&global, "global", false, "the leader with the votes of a quorum")
	return cmd
}
