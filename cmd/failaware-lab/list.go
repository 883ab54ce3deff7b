package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
)

// printList prints a list for people, as JSON, or as an object a line.
func printList[E any](cmd *cobra.Command, list []E, text func(io.Writer) error) error {
	if cli.FormatOf(cmd) != cli.AsNDJSON {
		return cli.Print(cmd, list, text)
	}
	for i := range list {
		if err := cli.WriteJSON(cmd.OutOrStdout(), cli.AsNDJSON, &list[i]); err != nil {
			return err
		}
	}
	return nil
}
