package clitest

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func sample() *cobra.Command {
	root := &cobra.Command{Use: "prog"}
	root.PersistentFlags().StringP("output", "o", "", "")
	run := func(*cobra.Command, []string) {}
	ask := &cobra.Command{Use: "ask", Run: run}
	ask.Flags().Bool("loud", false, "")
	keys := &cobra.Command{Use: "keys"}
	keys.AddCommand(&cobra.Command{Use: "list", Run: run})
	root.AddCommand(ask, keys)
	return root
}

// The commands in pages that exist are accepted, and the others are not.
func TestCommandLinesOfPages(t *testing.T) {
	for _, good := range []string{
		"prog ask --loud -o json   # --unknown", "prog --output json ask", "A=1 prog ask -- --unknown", "prog keys list|less",
		"x && bin/prog ask", "prog --help", "prog ask --output=json", "other ask --unknown", "prog keys …",
	} {
		for _, args := range calls("prog", good) {
			require.NoError(t, known(sample(), args), good)
		}
	}
	for _, bad := range []string{"prog ask --silent", "prog keys lost", "prog tell", "x; prog ask -q", "$ prog ask --x"} {
		all := calls("prog", bad)
		require.Len(t, all, 1, bad)
		require.Error(t, known(sample(), all[0]), bad)
	}
}

func TestBlocksOfPages(t *testing.T) {
	p := Page{"a.md", "text\n```sh run\nprog ask\n```\n\n    prog keys\n\n```go\nx := 1\n```\n"}
	require.Equal(t, []Block{{"sh run", "prog ask\n"}, {"go", "x := 1\n"}}, p.Blocks())
	require.Equal(t, []string{"prog ask", "", "prog keys"}, p.code())
}
