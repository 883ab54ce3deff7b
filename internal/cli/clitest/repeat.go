package clitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli"
)

// RefusesRepetition checks that every command of a program refuses every flag that is given
// twice, by its name and with both values, except those that may be repeated.
func RefusesRepetition(t *testing.T, p *cli.Program, repeatable ...string) {
	t.Helper()
	var collect []string
	eachFlag(p, func(words []string, f *pflag.Flag) {
		if cli.Repeatable(f) {
			collect = append(collect, f.Name)
			return
		}
		first, second := f.DefValue, f.DefValue // texts that the flag takes
		if kind := f.Value.Type(); kind == "string" || strings.Contains(kind, "file") {
			first, second = "one", "two"
		}
		args := slices.Concat(words, []string{"--" + f.Name + "=" + first, "--" + f.Name + "=" + second})
		code, out, text := Invoke(p, args...)
		require.Equal(t, int(cli.ExitWrong), code, args)
		require.Empty(t, out)
		require.Contains(t, text, "--"+f.Name, args)
		require.Contains(t, text, `"`+second+`"`, args)
		require.Contains(t, text, `it is given twice, first as "`+first+`"`, args)
	})
	slices.Sort(collect)
	require.Equal(t, repeatable, slices.Compact(collect))
}
