package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// valueFor returns a value that a flag takes.
func valueFor(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true"
	case "string":
		return "random" // a quorum system, or any file
	case "mode", "rank", "preset", "rates", "list":
		return f.Value.String()
	case "duration":
		return "1s"
	}
	return "2"
}

// Each flag counts beside --replay and --campaign, or is refused there: one that had no effect
// would let the user believe in a run that was not made.
func TestFlagsBesideACaseOrACampaign(t *testing.T) {
	beside := map[string][]string{
		"replay": {"trace", "shrink", "save", "diagram", "from", "to", "report", "quiet"},
		"campaign": {"seeds", "time", "first-seed", "jobs", "seed", "trace", "shrink", "save", "diagram", "from", "to", "report", "require-coverage",
			"quiet"},
	}
	for chooses, counts := range beside {
		newSimCommand().Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Name == chooses || slices.Contains(counts, flag.Name) {
				return
			}
			names, args := flag.Name, []string{"sim", "--" + chooses, "rough", "--" + flag.Name + "=" + valueFor(flag)}
			if flag.Name == "epochs" { // which needs the other one
				names, args = "(epochs|quorum)", append(args, "--quorum=random")
			}
			code, _, err := clitest.Invoke(&program, args...)
			require.Equal(t, 2, code, args)
			require.Regexp(t, `--`+names+`: (the|is for)|--`+chooses+`: the case`, err, args)
		})
	}
}

// A path of an exhaustive search determines all that the flags of a search choose.
func TestFlagsBesideAPath(t *testing.T) {
	newExhaustCommand().Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "replay" || flag.Name == "quiet" {
			return
		}
		code, _, err := clitest.Invoke(&program, "exhaust", "--replay", "none.json", "--"+flag.Name+"="+valueFor(flag))
		require.Equal(t, 2, code, flag.Name)
		require.Contains(t, err, "--"+flag.Name+": the path of --replay determines it")
	})
}
