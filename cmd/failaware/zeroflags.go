package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// aboveZero are the flags whose default of 0 says that they are not given. A 0 of a script,
// which may be meant as no time at all, would be no limit.
var aboveZero = []string{"count", "timeout"}

// refuseZero refuses these flags with a value that is not above 0.
func refuseZero(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if value := f.Value.String(); err == nil && slices.Contains(aboveZero, f.Name) && (value == "0" || value == "0s" || value[0] == '-') {
			err = fmt.Errorf("--%s: %s is not above 0", f.Name, value)
		}
	})
	return err
}
