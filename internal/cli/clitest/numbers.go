package clitest

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli"
)

// RefusesNoNumbers checks that every command of a program refuses texts that are no number
// or duration, or too large for one, by the name of the flag. It returns the names of the
// flags that it tried.
func RefusesNoNumbers(t *testing.T, p *cli.Program) (tried []string) {
	t.Helper()
	eachFlag(p, func(words []string, f *pflag.Flag) {
		wrong := []string{"", "x", "1e", "99999999999999999999", "-99999999999999999999"}
		switch f.Value.Type() {
		case "int", "uint64":
			wrong = append(wrong, "NaN", "1.5", "1s")
		case "duration":
			wrong = append(wrong, "NaN", "7", "2562048h", "-2562048h")
		case "float64":
			wrong = []string{"", "x", "1e", "1e999", "-1e999"}
		default:
			return
		}
		tried = append(tried, f.Name)
		for _, text := range wrong {
			args := slices.Concat(words, []string{"--" + f.Name + "=" + text})
			code, out, problem := Invoke(p, args...)
			require.Equal(t, int(cli.ExitWrong), code, args)
			require.Empty(t, out, args)
			require.Contains(t, problem, "--"+f.Name, args)
		}
	})
	slices.Sort(tried)
	return slices.Compact(tried)
}

// eachFlag calls f with the words and each flag of every command of a program.
func eachFlag(p *cli.Program, f func(words []string, flag *pflag.Flag)) {
	var walk func(*cobra.Command, []string)
	walk = func(cmd *cobra.Command, words []string) {
		each := func(flag *pflag.Flag) { f(words, flag) }
		cmd.LocalFlags().VisitAll(each)
		cmd.InheritedFlags().VisitAll(each)
		for _, c := range cmd.Commands() {
			walk(c, slices.Concat(words, []string{c.Name()}))
		}
	}
	walk(p.Root(), nil)
}
