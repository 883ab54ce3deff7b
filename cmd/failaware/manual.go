//go:build manual

package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/cli/manual"
)

// With the build tag manual, the program has a command that writes its man pages. The
// program that users run does not link the generator.
func init() {
	plain := program.Root
	program.Root = func() *cobra.Command {
		root := plain()
		root.AddCommand(newManualCommand())
		return root
	}
}

func newManualCommand() *cobra.Command {
	return &cobra.Command{
		Use: "manual DIRECTORY VERSION", Short: "Write the man pages", Hidden: true, Args: cli.Args,
		Long: "Write the man pages. Their date is SOURCE_DATE_EPOCH, so that equal sources give equal pages.",
		RunE: func(cmd *cobra.Command, args []string) error {
			seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
			if err != nil {
				return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
			}
			return manual.Write(cmd.Root(), args[0], args[1], time.Unix(seconds, 0))
		},
	}
}
