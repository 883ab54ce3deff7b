package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/timed"
)

func newLeaderCommand(g *globals) *cobra.Command {
	var global bool
	cmd := &cobra.Command{
		Use: "leader", Short: "Says who leads; the exit code is 1 if that is not known", Args: cobra.NoArgs,
		Long: `Says who leads the part of the group that the node is in, or with --global who leads
globally, as far as the node knows. The exit code is 1 if nobody is known to.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if global {
				return g.globalLeader(cmd)
			}
			var l api.Leader
			if err := g.ask(cmd.Context(), "/v1/leader", &l); err != nil {
				return err
			}
			done, err := writeJSON(cmd.OutOrStdout(), g.output, l)
			if !done {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "leader: "+leaderText(&l, 0))
			}
			return verdict(err, l.UpToDate)
		},
	}
	cmd.Flags().BoolVar(&global, "global", false, "who leads globally, with the votes of a quorum")
	cmd.AddCommand(newResignCommand(g), newVerifyCommand(g), newFindCommand(g))
	return cmd
}

func (g *globals) globalLeader(cmd *cobra.Command) error {
	var l api.Global
	if err := g.ask(cmd.Context(), "/v1/global", &l); err != nil {
		return err
	}
	done, err := writeJSON(cmd.OutOrStdout(), g.output, l)
	if !done {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "global leader: "+globalText(&l))
	}
	return verdict(err, l.Leader != 0)
}

func globalText(l *api.Global) string {
	switch {
	case l.Quorum == "":
		return "none, for the node has no quorum system"
	case l.Leads:
		return fmt.Sprintf("node %d, this one, for %v (%s)", l.Leader, time.Duration(l.ValidForNS).Round(time.Microsecond), l.Quorum)
	case l.Leader != 0:
		return fmt.Sprintf("node %d, as was heard (%s)", l.Leader, l.Quorum)
	}
	return fmt.Sprintf("nobody known (%s)", l.Quorum)
}

func newResignCommand(g *globals) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "resign", Short: "Has the node give up the lead; it stays in the group", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := "/v1/resign"
			if to != "" {
				if _, err := timed.ParseNodeID(to); err != nil {
					return wrong("--to: %w", err)
				}
				path += "?to=" + to
			}
			c, err := g.client()
			if err != nil {
				return err
			}
			ctx, cancel := g.within(cmd.Context(), defaultTimeout)
			defer cancel()
			if err := c.Post(ctx, path); err != nil {
				return err
			}
			if done, err := writeJSON(cmd.OutOrStdout(), g.output, api.Done{Done: true}); done {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "the node has resigned")
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the node that is to lead next")
	return cmd
}

func newVerifyCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "verify NODE", Short: "Asks a node through this one whether it leads; the exit code is 1 if it does not", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := timed.ParseNodeID(args[0]); err != nil {
				return wrong("verify: %w", err)
			}
			var v api.Verification
			if err := g.ask(cmd.Context(), "/v1/verify?node="+args[0], &v); err != nil {
				return err
			}
			done, err := writeJSON(cmd.OutOrStdout(), g.output, v)
			if !done {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), verificationText(&v))
			}
			return verdict(err, v.LocalNS > 0)
		},
	}
}

func verificationText(v *api.Verification) string {
	short := func(ns int64) time.Duration { return time.Duration(ns).Round(time.Microsecond) }
	switch {
	case v.GlobalNS > 0:
		return fmt.Sprintf("node %d: nobody else leads globally for %v", v.Node, short(v.GlobalNS))
	case v.LocalNS > 0:
		return fmt.Sprintf("node %d: nobody else leads its part of the group for %v", v.Node, short(v.LocalNS))
	}
	if v.Names != 0 && v.Names != v.Node {
		return fmt.Sprintf("node %d does not lead; it follows node %d", v.Node, v.Names)
	}
	return fmt.Sprintf("node %d does not lead", v.Node)
}
