// Command failaware-lab simulates nodes of fail-aware groups, explores all their
// behaviours up to a bound, compares elections, and measures nodes on this machine.
package main

import (
	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
)

func main() { program.Main() }

var program = cli.Program{Root: newRootCommand}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "failaware-lab",
		Short: "Simulate, explore, compare and measure fail-aware groups",
		Long: `Simulate nodes of fail-aware groups, explore what can happen to them, compare
elections, and measure nodes on this machine. The program failaware runs nodes.

Exit codes: 0 all is well, 1 a promise is broken or the program was interrupted,
2 wrong usage or it can never succeed.`,
		Args: cobra.NoArgs,
		RunE: cli.Help,
	}
	cli.RegisterFormat(root.PersistentFlags())
	root.AddCommand(newSimCommand(), newCampaignCommand(), newExhaustCommand(), newLabCommand(), newBenchCommand(), newChaosCommand(), newPlotCommand())
	return root
}
