package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Args checks the arguments of a command against its usage line: "wait NAME" needs an
// argument, "check [FILE]" may have one, and "plot FILE..." may have many. Errors name
// the argument that is missing or one too many.
func Args(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	many := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "...")
	for i, name := range names {
		if i >= len(args) && !strings.HasPrefix(name, "[") {
			return fmt.Errorf("%s: %s is missing", cmd.Name(), strings.TrimSuffix(name, "..."))
		}
	}
	if len(args) > len(names) && !many {
		return fmt.Errorf("%s: %q is one argument too many", cmd.Name(), args[len(names)])
	}
	return nil
}
