package main

import "github.com/spf13/cobra"

// otherCommands are the commands that need no node to ask.
func otherCommands() []*cobra.Command {
	return []*cobra.Command{newDemoCommand(), newBenchCommand(), newPlotCommand(), newSimCommand(), newLabCommand()}
}
