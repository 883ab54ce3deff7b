package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/cli"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Check configurations", Args: cobra.NoArgs,
		RunE: cli.Help,
	}
	cmd.AddCommand(newConfigCheckCommand())
	return cmd
}

func newConfigCheckCommand() *cobra.Command {
	var flags settingFlags
	var file string
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Validate a node's settings and print every bound that they guarantee",
		Long: `Validate the settings that 'failaware node' would use with the same flags,
environment and file, and print every bound that they guarantee. The command starts
nothing, looks up no names, and changes no file. It warns of files, directories and
addresses that a node could not use if this user started it here. Settings with which no
node starts are errors, and the exit code is 2; with -o json, standard output has an
object with their list, errors.`,
		Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			by := "--config"
			if len(args) == 1 {
				by = "config check"
				if file != "" && file != args[0] {
					return cli.Wrong("config check: two files are named: %s and %s", file, args[0])
				}
				file = args[0]
			}
			given := func(key string) bool { return environment()[key] != nil || flags.source[key] != nil }
			assumed := !given("id") && !given("state_dir") && file == "" && os.Getenv(configFileEnv) == ""
			if assumed { // any id will do to show what the settings guarantee
				flags.source["id"] = []raw{{text: "1"}}
			}
			c, bounds, err := loadConfigOf(by, file, flags.source)
			if err != nil {
				return refuse(cmd, err)
			}
			all := guaranteesOf(&c, bounds)
			all.Warnings = append(all.Warnings, c.checkFiles()...)
			if assumed {
				all.Warnings = append(all.Warnings, "no id is given: any node needs --id, or --state-dir, where it keeps one that is free")
			}
			return cli.Print(cmd, all, func(w io.Writer) error {
				fmt.Fprintf(w, "%s: the settings are sound\n", subject(c.ID))
				return all.write(w)
			})
		},
	}
	flags.register(cmd.Flags())
	cmd.Flags().StringVar(&file, "config", "", "the file (FAILAWARE_CONFIG)")
	return cmd
}

// refusals is the JSON form of settings with which no node starts.
type refusals struct {
	Errors []string `json:"errors"`
}

// refuse prints the errors of settings as JSON, if that is asked for, and returns them.
func refuse(cmd *cobra.Command, err error) error {
	var r refusals
	for line := range strings.Lines(err.Error()) {
		r.Errors = append(r.Errors, strings.TrimSpace(line))
	}
	return withJSON(cmd, r, err)
}

// subject names the node of a configuration.
func subject(id failaware.NodeID) string {
	if id == failaware.NoNode {
		return "a node that chooses its id"
	}
	return fmt.Sprintf("node %v", id)
}
