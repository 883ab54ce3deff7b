package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
)

// completionTime is how long a shell waits for a node to name its peers.
const completionTime = 300 * time.Millisecond

// completeNodes lets shells complete the ids of nodes and of keys, and the keys of the
// store: those that the node at --addr knows. Of longer values it offers how they begin.
func completeNodes(root *cobra.Command, g *globals) {
	arguments := func(ids func(context.Context, *globals) []cobra.Completion, others []string) cobra.CompletionFunc {
		return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(ids(cmd.Context(), g), others...), cobra.ShellCompDirectiveNoFileComp
		}
	}
	find := func(path ...string) *cobra.Command {
		cmd, _, err := root.Find(path)
		if err != nil {
			panic(err)
		}
		return cmd
	}
	for _, cmd := range []*cobra.Command{find("why"), find("leader", "verify")} {
		cmd.ValidArgsFunction, cmd.ValidArgs = arguments(nodeIDs, cmd.ValidArgs), nil
	}
	for _, cmd := range []*cobra.Command{find("keys", "use"), find("keys", "remove")} {
		cmd.ValidArgsFunction = arguments(keyIDs, nil)
	}
	for _, cmd := range []*cobra.Command{find("kv", "get"), find("kv", "put"), find("kv", "cas"), find("kv", "delete")} {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return storeKeys(cmd.Context(), g, begin), cobra.ShellCompDirectiveNoFileComp
		}
	}
	for _, f := range []struct {
		cmd    *cobra.Command
		flag   string
		values cobra.CompletionFunc
	}{
		{find("leader", "resign"), "to", arguments(nodeIDs, nil)},
		{find("node"), "quorum", cobra.FixedCompletions([]string{"majority:", "weighted:", "grid:", "explicit:"}, begins)},
		{find("node"), "handler", cobra.FixedCompletions(append(api.Topics(), api.Kinds()...), begins)},
		{find("node"), "webhook", cobra.FixedCompletions(append(api.Topics(), api.Kinds()...), begins)},
	} {
		if err := f.cmd.RegisterFlagCompletionFunc(f.flag, f.values); err != nil {
			panic(err)
		}
	}
}

// begins lets the user continue after a completion, which is only the start of a value.
const begins = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace

// answers reports whether the node at --addr has answered in time.
func answers(ctx context.Context, g *globals, path string, answer any) bool {
	c, err := g.client()
	if err != nil {
		return false
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	return c.Get(ctx, path, answer) == nil
}

// keyIDs returns the ids of the keys of the node.
func keyIDs(ctx context.Context, g *globals) []cobra.Completion {
	var k api.Keys
	if !answers(ctx, g, "/v1/keys", &k) {
		return nil
	}
	return k.Keys
}

// mostKeys is how many keys a shell offers.
const mostKeys = 100

// storeKeys returns keys of the node's store that begin so.
func storeKeys(ctx context.Context, g *globals, begin string) (keys []cobra.Completion) {
	query := url.Values{"prefix": {begin}, "local": {"true"}, "limit": {strconv.Itoa(mostKeys)}}
	var l api.KVList
	if answers(ctx, g, "/v1/kv/list?"+query.Encode(), &l) {
		for i := range l.Items {
			keys = append(keys, l.Items[i].Key)
		}
	}
	return keys
}

// nodeIDs returns the ids of the node and its peers with their names, or nothing if no
// node answers.
func nodeIDs(ctx context.Context, g *globals) (ids []cobra.Completion) {
	var m api.Members
	if !answers(ctx, g, "/v1/members", &m) {
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
