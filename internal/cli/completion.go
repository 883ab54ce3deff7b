package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completeValues lets shells complete the values of flags and the arguments of a
// command and its subcommands, where there are a few names to choose from, and keeps
// them from offering files elsewhere.
func completeValues(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if names := alternatives(f.Value.Type()); names != nil {
			// It fails only for flags that have a function already.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
			return
		}
		switch kind := f.Value.Type(); {
		case kind == "directory":
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
		case kind != "string" && kind != "file" && !strings.Contains(kind, "PATH"):
			// No file has a name that is a number, a duration or an address.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
		}
	})
	if words := strings.Fields(cmd.Use); len(words) > 1 && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgs = alternatives(strings.Trim(words[1], "[]"))
	}
	if cmd.ValidArgsFunction == nil && !strings.Contains(cmd.Use, "FILE") && !strings.Contains(cmd.Use, "CMD") && len(cmd.ValidArgs) == 0 && cmd.Runnable() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, c := range cmd.Commands() {
		completeValues(c)
	}
}

// alternatives returns the names of a text such as "local|lan|wan". There are none
// if a part is a placeholder, in capitals, or no name.
func alternatives(text string) []string {
	names := strings.Split(text, "|")
	if len(names) < 2 || slices.ContainsFunc(names, func(n string) bool { return n != strings.ToLower(n) || n == "-" }) {
		return nil
	}
	return names
}
