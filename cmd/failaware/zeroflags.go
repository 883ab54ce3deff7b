package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// aboveZero lists the flags whose default of 0 means that they are unset. An explicit 0 is an error,
// because a script may mean no time at all by it.
var aboveZero = []string{"count", "timeout"}

// refuseZero returns an error for one of aboveZero with a value that is not above 0.
func refuseZero(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if value := f.Value.String(); err == nil && slices.Contains(aboveZero, f.Name) && (value == "0" || value == "0s" || value[0] == '-') {
			err = fmt.Errorf("--%s: %s is not above 0", f.Name, value)
		}
	})
	return err
}
