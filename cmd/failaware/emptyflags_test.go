package main

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Every flag of every command that takes a text refuses an empty one, or is in mayBeEmpty.
func TestEmptyFlagsAreRefused(t *testing.T) {
	seen := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		check := func(f *pflag.Flag) {
			if _, setting := f.Value.(*settingValue); setting || f.Value.Type() != "string" {
				return
			}
			seen[f.Name] = true
			fresh, rest, err := newRootCommand().Find(words(cmd))
			require.NoError(t, err)
			require.Empty(t, rest)
			require.NoError(t, fresh.ParseFlags([]string{"--" + f.Name, ""}))
			err = refuseEmpty(fresh)
			if slices.Contains(mayBeEmpty, f.Name) {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "--"+f.Name+": it is empty", cmd.CommandPath())
			require.Nil(t, fresh.PersistentPreRunE, "hides the check of the root command")
		}
		if cmd.HasParent() {
			cmd.LocalFlags().VisitAll(check)
			cmd.InheritedFlags().VisitAll(check)
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRootCommand())
	for _, name := range append(slices.Clone(mayBeEmpty), "addr", "version", "since") {
		require.True(t, seen[name], name)
	}
}

// words returns the arguments that name a command.
func words(cmd *cobra.Command) (list []string) {
	for ; cmd.HasParent(); cmd = cmd.Parent() {
		list = append([]string{cmd.Name()}, list...)
	}
	return list
}
