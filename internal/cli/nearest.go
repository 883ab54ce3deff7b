package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mostTypos is how many letters of a name may be wrong for it to be recognized, and no more
// than every third.
const mostTypos = 3

// Nearest returns the known name that differs least from a name, or "".
func Nearest(name string, known []string) (best string) {
	least := min(mostTypos, (len(name)+1)/3) + 1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many letters must be inserted, removed, replaced or swapped with the next
// one to make b of a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1) // of the beginnings of a, each with all of b
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := range len(a) {
		for j := range len(b) {
			replaced := rows[i][j]
			if a[i] != b[j] {
				replaced++
			}
			d := min(replaced, rows[i+1][j]+1, rows[i][j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(a)][len(b)]
}

// suggestNames has errors about unknown commands and flags name what may have been meant.
func suggestNames(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(suggestFlag)
	suggestCommands(root)
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err != nil || len(rest) == 0 {
					return err
				}
				return unknownCommand(of, rest)
			}
		}
	}
}

// suggestCommands checks the arguments of commands that only group others.
func suggestCommands(cmd *cobra.Command) {
	if !cmd.HasSubCommands() {
		return
	}
	cmd.Args = unknownCommand
	if !cmd.Runnable() {
		cmd.RunE = Help
	}
	for _, c := range cmd.Commands() {
		suggestCommands(c)
	}
}

// unknownCommand returns an error unless there is no argument.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			known = append(known, c.Name())
		}
	}
	there := thereIs("", Nearest(args[0], known))
	if there == "" && cmd.Flags().Lookup(args[0]) != nil { // as version
		there = thereIs("--", args[0])
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), there)
}

// suggestFlag adds to the error of an unknown flag what may have been meant, and to that of
// a wrong value the form that it should have.
func suggestFlag(cmd *cobra.Command, err error) error {
	if invalid, ok := err.(*pflag.InvalidValueError); ok {
		return sayForm(invalid)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		if i := slices.Index(known, short); i >= 0 {
			return fmt.Errorf("%w%s", err, thereIs("--", known[i])) // one dash for two
		}
		return err
	}
	return fmt.Errorf("%w%s", err, thereIs("--", Nearest(unknown.GetSpecifiedName(), known)))
}

// thereIs returns the end of an error that names what may have been meant, if anything.
func thereIs(prefix, name string) string {
	if name == "" {
		return ""
	}
	return "; there is " + prefix + name
}
