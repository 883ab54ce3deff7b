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

// refuseEmpty returns an error for a flag with an empty value, as from an unset variable of a shell.
// Otherwise an empty --addr would be the default node, and an empty --version no condition.
// The settings of a node check their own values.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, setting := cli.Inner(f).(*settingValue)
		if err == nil && !setting && f.Value.Type() == "string" && f.Value.String() == "" && !slices.Contains(mayBeEmpty, f.Name) {
			err = fmt.Errorf("--%s: it is empty", f.Name)
		}
	})
	return err
}
