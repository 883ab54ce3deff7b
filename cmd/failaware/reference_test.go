//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

const commandsPage = "../../docs/reference/commands.md"

// docs/reference/commands.md has the help of every command.
func TestCommandsPage(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1000") // for the default of --addr
	var b strings.Builder
	b.WriteString("# Commands of `failaware`\n\nThis page is generated from the program by `go test ./cmd/failaware -run TestCommandsPage -update`. `failaware help COMMAND` prints the same.\n" +
		"Exit codes: 0 yes or done, 1 no or not in time, 2 wrong usage or it can never succeed.\n")
	root := newRootCommand()
	b.WriteString("\nFlags of every command:\n\n")
	flagTable(&b, root.PersistentFlags())
	describe(&b, root)
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(commandsPage, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(commandsPage)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "the page is old: go test ./cmd/failaware -run TestCommandsPage -update")
}

// describe writes the commands below a command, each with all of its own.
func describe(b *strings.Builder, of *cobra.Command) {
	for _, c := range of.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
		long := c.Long
		if long == "" {
			long = c.Short + "."
		}
		b.WriteString("```text\n" + long + "\n")
		if !c.HasSubCommands() || c.HasAvailableLocalFlags() {
			b.WriteString("\n" + c.UseLine() + "\n")
		}
		if c.Example != "" {
			b.WriteString("\nExamples:\n" + c.Example + "\n")
		}
		b.WriteString("```\n")
		if c.LocalNonPersistentFlags().HasAvailableFlags() {
			b.WriteByte('\n')
			flagTable(b, c.LocalNonPersistentFlags())
		}
		describe(b, c)
	}
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | meaning |\n| --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		if f.Name == "addr" {
			usage, _, _ = strings.Cut(usage, "; default") // depends on the user
			usage += ")"
		}
		if !strings.Contains(usage, "default") && f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", cell("--"+f.Name+" "+name), cell(usage))
	})
}

// cell is a text as a cell of a table.
func cell(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "|", "\\|") }
