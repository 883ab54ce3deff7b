package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

func newLeaveCommand(g *globals) *cobra.Command {
	var forget, force bool
	cmd := &cobra.Command{
		Use: "leave", Short: "Have the node leave the group and end", Args: cobra.NoArgs,
		Long: `Have the node hand over the lead, leave the group and end, as at SIGTERM. The others
expect it back: it stays in their lists for a while, and they look for it.

With --forget it leaves for good. The others forget it at once, and do not look for it
until another process with its id sends them something. A node that has chosen its id by
itself gives it up. One that already leaves otherwise is not forgotten (exit code 1). One
that has a vote in the quorum system refuses: its vote would be missing for good, so replace
the system first ("failaware epoch change"), or insist by --force.`,
		Example: "  failaware leave\n  failaware --addr /run/failaware/failaware.sock leave --forget",
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, text := "/v1/leave", "the node leaves"
			if force && !forget {
				return cli.Wrong("--force needs --forget")
			}
			if forget {
				path, text = path+"?forget=true", "the node leaves for good"
			}
			if force {
				path += "&force=true"
			}
			return ofVoter(g.order(cmd, path, defaultTimeout, text))
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "leave for good")
	cmd.Flags().BoolVar(&force, "force", false, "with --forget: even if the node has a vote in the quorum system")
	return cmd
}

// ofVoter returns the error of a node that does not leave for good, with the command and the flag
// that it needs.
func ofVoter(err error) error {
	if e, ok := errors.AsType[*api.StatusError](err); ok {
		e.Text = strings.Replace(e.Text, "without it first, or insist by force", "without it first ('failaware epoch change'), or insist by --force", 1)
	}
	return err
}
