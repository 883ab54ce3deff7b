package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/failaware/failaware/internal/cli"
)

// mayBeEmpty are the flags for which the empty text is a value: the environment or no file,
// and the place before all keys.
var mayBeEmpty = []string{"after", "ca", "cert", "config", "http", "key", "token-file"}

// refuseEmpty refuses flags with an empty value, as of a variable of a shell that is not set.
// Otherwise an empty --addr would be the default node, and an empty --version no condition.
// Settings of a node judge their values by themselves.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, setting := cli.Inner(f).(*settingValue)
		if err == nil && !setting && f.Value.Type() == "string" && f.Value.String() == "" && !slices.Contains(mayBeEmpty, f.Name) {
			err = fmt.Errorf("--%s: it is empty", f.Name)
		}
	})
	return err
}
