package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/seal"
)

func newKeygenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keygen [FILE]", Short: "Make a key for a group", Args: cli.Args,
		Long: `Make a key file with one new key, for --key-file of every node of a group. Without FILE,
the key file goes to the standard output. FILE must not exist yet; only its owner can
read it.

Copy the file to every node of the group, in a way in which nobody else can read it.
Whoever has the key can pretend to be any node of the group.`,
		Example: "  failaware keygen /etc/failaware/keys",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := seal.NewRing(seal.NewKey())
			if err != nil {
				return err
			}
			if len(args) == 0 {
				_, err := fmt.Fprint(cmd.OutOrStdout(), r.Format())
				return err
			}
			switch err := r.CreateFile(args[0]); {
			case errors.Is(err, fs.ErrExist):
				return cli.Wrong("%s exists: keygen replaces no key file; failaware keys adds keys to it", args[0])
			case err != nil:
				return cli.Wrong("%w", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "key %v is in %s\n", r.IDs()[0], args[0])
			return err
		},
	}
}
