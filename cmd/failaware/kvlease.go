package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
)

func newKVLeaseCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "lease", Short: "Make, renew and end leases that keys end with", Args: cobra.NoArgs,
		Long: `Make, renew and end leases. Keys that are written with --lease are deleted when their
lease ends: when the group's clock proves that its time has passed since a node took the
last renewal, which may be long before it was carried out. It never ends earlier on that
clock. When the group gets another leader, the time begins anew.`,
		Example: `  failaware kv lease grant 10s -o json | jq -r .lease
  failaware kv put session/7 here --lease 4ecd4828225a473d.12
  failaware kv lease renew 4ecd4828225a473d.12`,
		RunE: cli.Help,
	}
	order := func(name, short, path string) *cobra.Command {
		return &cobra.Command{Use: name + " ID", Short: short, Args: cli.Args, Example: "  failaware kv lease " + name + " 4ecd4828225a473d.12",
			RunE: func(cmd *cobra.Command, args []string) error {
				query, err := leaseQuery(args[0])
				if err != nil {
					return err
				}
				return askStore(g, cmd, http.MethodPost, path, query, writeText)
			}}
	}
	cmd.AddCommand(newKVGrantCommand(g), order("renew", "Let a lease last for its time again", "lease/renew"),
		order("revoke", "End a lease, and delete its keys", "lease/revoke"), newKVShowCommand(g))
	return cmd
}

func leaseQuery(id string) (url.Values, error) {
	if _, err := kv.ParseDot(id); err != nil {
		return nil, cli.Wrong("ID: %w", err)
	}
	return url.Values{"lease": {id}}, nil
}

func newKVGrantCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "grant TTL", Short: "Make a lease that lasts for a time unless it is renewed, and print its id", Args: cli.Args,
		Example: "  failaware kv lease grant 10s",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := kv.ParseTTL(args[0])
			if err != nil {
				return cli.Wrong("TTL: %w", err)
			}
			return askStore(g, cmd, http.MethodPost, "lease/grant", url.Values{"ttl": {d.String()}}, writeText)
		},
	}
}

func newKVShowCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Print the time and the keys of a lease", Args: cli.Args,
		Example: "  failaware kv lease show 4ecd4828225a473d.12",
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := leaseQuery(args[0])
			if err != nil {
				return err
			}
			return askStore(g, cmd, http.MethodGet, "lease", query, line("", leaseText))
		},
	}
}

// leaseText describes a lease.
func leaseText(a *api.KVLease) string {
	end := "its time has not begun"
	if a.Timeline != "" {
		end = "ends after " + time.Unix(0, a.EndNS).UTC().Format(time.RFC3339Nano) + " of timeline " + a.Timeline
	}
	keys := make([]string, len(a.Keys))
	for i, key := range a.Keys {
		keys[i] = quoted(key)
	}
	return fmt.Sprintf("lease %s of %v: %s; keys: %s", a.Lease, time.Duration(a.TTLNS), end, cli.Dash(strings.Join(keys, " ")))
}
