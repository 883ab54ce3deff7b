package main

import (
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

func newKVSessionCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "session", Short: "Open and close sessions, in which commands are carried out once", Args: cobra.NoArgs,
		Long: `Open and close sessions. put, cas and delete have sessions of their own. A script that
must be able to start again keeps one, and gives each of its commands a --number, from 1
on: sent again, at any node, it is not carried out again, and gets its first result.`,
		Example: `  failaware kv session open
  failaware kv put colour blue --session 3/00c0ffee00c0ffee/o12 --number 1
  failaware kv session close 3/00c0ffee00c0ffee/o12`,
		RunE: cli.Help,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "open", Short: "Open a session, and print its id", Args: cobra.NoArgs,
		Example: "  failaware kv session open",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return unopened(askStore(g, cmd, http.MethodPost, "session/open", url.Values{}, func(w io.Writer, a *api.KVSession) error {
				_, err := io.WriteString(w, a.Session+"\n")
				return err
			}))
		},
	}, &cobra.Command{
		Use: "close ID", Short: "Close a session whose outcomes are all known", Args: cli.Args,
		Example: "  failaware kv session close 3/00c0ffee00c0ffee/o12",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := api.ParseSession(args[0]); err != nil {
				return cli.Wrong("ID: %w", err)
			}
			return askStore(g, cmd, http.MethodPost, "session/close", url.Values{"session": args}, func(w io.Writer, _ *api.Done) error {
				_, err := io.WriteString(w, "closed\n")
				return err
			})
		},
	})
	return cmd
}
