package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newConfigCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Checks configurations", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigCheckCommand(g))
	return cmd
}

func newConfigCheckCommand(g *globals) *cobra.Command {
	var flags settingFlags
	var file string
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Validates a node's settings, and prints every bound that they guarantee",
		Long: `Validates the settings that 'failaware node' would use with the same flags,
environment and file, and prints every bound that they guarantee. Nothing is
started, and no name is looked up.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if file != "" && file != args[0] {
					return wrong("config check: two files are named: %s and %s", file, args[0])
				}
				file = args[0]
			}
			if environment()["id"] == nil && flags.source["id"] == nil && file == "" && os.Getenv(configFileEnv) == "" {
				// Who asks what settings guarantee need not have a node.
				flags.source["id"] = []raw{{text: "1"}}
			}
			c, bounds, err := loadConfig(file, flags.source)
			if err != nil {
				return err
			}
			all := guaranteesOf(&c, bounds)
			if done, err := writeJSON(cmd.OutOrStdout(), g.output, all); done {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "node %v: the settings are sound\n", c.ID)
			return all.write(cmd.OutOrStdout())
		},
	}
	flags.register(cmd.Flags())
	cmd.Flags().StringVar(&file, "config", "", "the file (FAILAWARE_CONFIG)")
	return cmd
}
