package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
)

// completionTime is how long a shell waits for a node to name its peers.
const completionTime = 300 * time.Millisecond

// completeNodes lets shells complete the ids of nodes: of those that the node at --addr
// knows.
func completeNodes(root *cobra.Command, g *globals) {
	arguments := func(others []string) cobra.CompletionFunc {
		return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(nodeIDs(cmd.Context(), g), others...), cobra.ShellCompDirectiveNoFileComp
		}
	}
	for _, path := range [][]string{{"why"}, {"leader", "verify"}} {
		cmd, _, err := root.Find(path)
		if err != nil {
			panic(err)
		}
		cmd.ValidArgsFunction, cmd.ValidArgs = arguments(cmd.ValidArgs), nil
	}
	resign, _, err := root.Find([]string{"leader", "resign"})
	if err == nil {
		err = resign.RegisterFlagCompletionFunc("to", arguments(nil))
	}
	if err != nil {
		panic(err)
	}
}

// nodeIDs returns the ids of the node and its peers with their names, or nothing if no
// node answers.
func nodeIDs(ctx context.Context, g *globals) (ids []cobra.Completion) {
	c, err := g.client()
	if err != nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	var m api.Members
	if c.Get(ctx, "/v1/members", &m) != nil {
		return nil
	}
	for _, member := range m.Members {
		if member.Node == 0 {
			continue
		}
		about := member.Name
		if !member.Alive && !member.Self {
			about = fmt.Sprintf("%s, not alive", member.Name)
		}
		ids = append(ids, cobra.CompletionWithDesc(strconv.Itoa(member.Node), about))
	}
	return ids
}
