package main

import (
	"errors"
	"fmt"
	"io"
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
			made := madeKey{Key: r.IDs()[0].String()}
			if len(args) == 0 {
				made.Content = r.Format()
				return cli.Print(cmd, made, func(w io.Writer) error {
					_, err := fmt.Fprint(w, made.Content)
					return err
				})
			}
			switch err := r.CreateFile(args[0]); {
			case errors.Is(err, fs.ErrExist):
				return cli.Wrong("%s exists: keygen replaces no key file; failaware keys adds keys to it", args[0])
			case err != nil:
				return cli.Wrong("%w", err)
			}
			made.File = args[0]
			return cli.PrintLine(cmd, made, fmt.Sprintf("key %s is in %s", made.Key, made.File))
		},
	}
}

// madeKey is the JSON form of a new key.
type madeKey struct {
	Key     string `json:"key"`               // its id
	File    string `json:"file,omitempty"`    // that has it
	Content string `json:"content,omitempty"` // of a key file, if there is no file
}
