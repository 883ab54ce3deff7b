package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

func newLeaderCommand(g *globals) *cobra.Command {
	var global bool
	cmd := &cobra.Command{
		Use: "leader", Short: "Show the leader; the exit code is 1 if it is not known", Args: cobra.NoArgs,
		Long: `Show the leader of the node's part of the group or, with --global, the global leader, as
far as the node knows. The exit code is 1 if the node knows none.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if global {
				return g.globalLeader(cmd)
			}
			l, err := show(g, cmd, "/v1/leader", line("leader: ", leaderText))
			return cli.Verdict(err, l.UpToDate)
		},
	}
	cmd.Flags().BoolVar(&global, "global", false, "the leader with the votes of a quorum")
	cmd.AddCommand(newResignCommand(g), newVerifyCommand(g), newFindCommand(g))
	return cmd
}

func (g *globals) globalLeader(cmd *cobra.Command) error {
	l, err := show(g, cmd, "/v1/global", line("global leader: ", globalText))
	return cli.Verdict(err, l.Leader != 0)
}

func globalText(l *api.Global) string {
	switch {
	case l.Quorum == "":
		return "none: the node has no quorum system"
	case l.Leads:
		return fmt.Sprintf("node %d, this one, for at most %s (%s)", l.Leader, cli.Brief(l.AtMostNS), l.Quorum)
	case l.Leader != 0:
		return fmt.Sprintf("node %d, as heard (%s)", l.Leader, l.Quorum)
	}
	return fmt.Sprintf("none is known (%s)", l.Quorum)
}

func newResignCommand(g *globals) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "resign", Short: "Have the node give up the lead; it stays in the group", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := "/v1/resign"
			if cmd.Flags().Changed("to") {
				id, err := g.nodeID(cmd, "--to", to)
				if err != nil {
					return err
				}
				path += "?to=" + id
			}
			return g.order(cmd, path, defaultTimeout, "the node has resigned")
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the id or the name of the node to lead next")
	return cmd
}

func newVerifyCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "verify NODE", Short: "Ask another node, through this one, whether it leads; the exit code is 1 if it does not", Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := g.nodeID(cmd, "verify", args[0])
			if err != nil {
				return err
			}
			v, err := show(g, cmd, "/v1/verify?node="+id, line("", verificationText))
			return cli.Verdict(err, v.LocalNS > 0)
		},
	}
}

func verificationText(v *api.Verification) string {
	short := func(ns int64) time.Duration { return time.Duration(ns).Round(time.Microsecond) }
	switch {
	case v.GlobalNS > 0:
		return fmt.Sprintf("node %d: no other node leads globally for %v", v.Node, short(v.GlobalNS))
	case v.LocalNS > 0:
		return fmt.Sprintf("node %d: no other node leads its part of the group for %v", v.Node, short(v.LocalNS))
	}
	if v.Names != 0 && v.Names != v.Node {
		return fmt.Sprintf("node %d does not lead; it follows node %d", v.Node, v.Names)
	}
	return fmt.Sprintf("node %d does not lead", v.Node)
}
