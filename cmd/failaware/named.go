package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/timed"
)

// nodeID returns the id of the node that a user names by its id, or by the name that it has
// given itself, which the node at --addr knows. The word says where the user did so, and
// others is what else could stand there.
func (g *globals) nodeID(cmd *cobra.Command, word, named string, others ...string) (string, error) {
	_, err := timed.ParseNodeID(named)
	if err == nil {
		return named, nil
	}
	if _, notNumber := strconv.Atoi(named); notNumber == nil || named == "" {
		return "", cli.Wrong("%s: %w", word, err)
	}
	var ids []string
	err = g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error {
		var m api.Members
		err := c.Get(ctx, "/v1/members", &m)
		for i := range m.Members {
			if node := &m.Members[i]; node.Name == named && node.Node != 0 {
				ids = append(ids, strconv.Itoa(node.Node))
			}
		}
		return err
	})
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		others = append(others, fmt.Sprintf("the id (1 to %d)", timed.MaxNodes))
		return "", cli.Wrong("%s: %q is neither %s nor the name of a node that this one knows", word, named, strings.Join(others, ", "))
	case len(ids) > 1:
		return "", cli.Wrong("%s: the nodes %s are all named %q: name one by its id", word, strings.Join(ids, ", "), named)
	}
	return ids[0], nil
}
