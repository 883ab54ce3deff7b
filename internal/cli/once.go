package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// once is a flag that may be given once. Otherwise the last value would count without a word:
// a script that adds its --version to the caller's would write under another condition. Values
// of the environment and of files are no repetition: they are not set through the flag.
type once struct {
	pflag.Value
	given bool
	first string
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.given {
		return fmt.Errorf("it is given twice, first as %q", o.first)
	}
	o.given, o.first = true, text
	return o.Value.Set(text)
}

// Inner returns the value of a flag as it was declared.
func Inner(f *pflag.Flag) pflag.Value {
	if o, ok := f.Value.(*once); ok {
		return o.Value
	}
	return f.Value
}

// Repeatable reports whether a flag collects the values that it is given.
func Repeatable(f *pflag.Flag) bool {
	if _, slice := f.Value.(pflag.SliceValue); slice {
		return true
	}
	v, ok := Inner(f).(interface{ Collects() bool })
	return ok && v.Collects()
}

// limit makes a flag refuse a second value.
func limit(f *pflag.Flag) {
	f.Value = &once{Value: f.Value}
	if f.DefValue == "0s" {
		f.DefValue = "0" // help omits it as it does for a duration that is not wrapped
	}
}

// refuseRepetition makes all flags of a command and its subcommands refuse a second value,
// except those that collect their values.
func refuseRepetition(cmd *cobra.Command) {
	visit := func(f *pflag.Flag) {
		if !Repeatable(f) {
			limit(f)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(visit)
	cmd.PersistentFlags().VisitAll(visit)
	for _, c := range cmd.Commands() {
		refuseRepetition(c)
	}
}
