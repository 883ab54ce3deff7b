package main

import (
	"github.com/spf13/cobra"
)

func newLeaveCommand(g *globals) *cobra.Command {
	var forget bool
	cmd := &cobra.Command{
		Use: "leave", Short: "Have the node leave the group and end", Args: cobra.NoArgs,
		Long: `Have the node hand over the lead, leave the group and end, as at SIGTERM. The others
expect it back: it stays in their lists for a while, and they look for it.

With --forget it leaves for good. The others forget it at once, and do not look for it
until another process with its id sends them something. A node that has chosen its id by
itself gives it up. One that already leaves otherwise is not forgotten (exit code 1).`,
		Example: "  failaware leave\n  failaware --addr /run/failaware/failaware.sock leave --forget",
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, text := "/v1/leave", "the node leaves"
			if forget {
				path, text = path+"?forget=true", "the node leaves for good"
			}
			return g.order(cmd, path, defaultTimeout, text)
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "leave for good")
	return cmd
}
