package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
)

// localUsage is the help of the flag --local.
const localUsage = "answer from the state of this node at once; others may be ahead of it, or undo what it has"

func newKVGetCommand(g *globals) *cobra.Command {
	var local, raw bool
	cmd := &cobra.Command{
		Use: "get KEY", Short: "Print the value of a key", Args: cli.Args,
		Long: `Print the value of a key. The answer includes all that was acknowledged before, by any
node in a linearizable store, and in this part of the group in a partitionable one. If the
node cannot know that, the exit code is 5. With --local the node answers from its own
state, and says whether that may be old. With -o json, the answer has the version and the
freshness. A line break follows the value, unless --raw leaves its bytes as they were put.`,
		Example: "  failaware kv get colour\n  failaware kv get colour --local -o json\n  failaware kv get picture --raw",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkKey(args[0]); err != nil {
				return err
			}
			if raw && cli.FormatOf(cmd) != cli.AsTable {
				return cli.Wrong("--raw: the value in JSON is base64: without -o")
			}
			query := url.Values{"key": {args[0]}, "local": {strconv.FormatBool(local)}}
			var a api.KVGet
			err := g.store(cmd, http.MethodGet, "get", query, &a, func(io.Writer) error {
				warnStale(cmd, &a.Fresh)
				b, err := valueOf(a.Value)
				if !raw {
					b = append(b, '\n')
				}
				if err == nil {
					_, err = cmd.OutOrStdout().Write(b) // as it is: it may be for a program
				}
				return err
			})
			if e, ok := errors.AsType[*cli.ExitError](err); ok && e.Code == exitNotFound && a.Key != "" && cli.FormatOf(cmd) == cli.AsTable {
				warnStale(cmd, &a.Fresh) // the key may exist elsewhere
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&local, "local", false, localUsage)
	cmd.Flags().BoolVar(&raw, "raw", false, "write the bytes of the value, and no line break after them")
	return cmd
}

// writeFlags are the flags of commands that write a key.
type writeFlags struct {
	attempt
	version, lease string
	ttl            time.Duration
}

func (f *writeFlags) register(cmd *cobra.Command) {
	f.attempt.register(cmd)
	cmd.Flags().StringVar(&f.lease, "lease", "", "id of the lease that the key ends with")
	cmd.Flags().DurationVar(&f.ttl, "ttl", 0, "let the key end after this time, by a lease of its own")
}

// query returns the parameters for a key.
func (f *writeFlags) query(cmd *cobra.Command, key string) (url.Values, error) {
	query := url.Values{"key": {key}}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("version") {
		if _, err := kv.ParseVersion(f.version); err != nil {
			return nil, cli.Wrong("--version: %w", err)
		}
		query.Set("version", f.version)
	}
	if cmd.Flags().Changed("lease") {
		if _, err := kv.ParseDot(f.lease); err != nil {
			return nil, cli.Wrong("--lease: %w", err)
		}
		query.Set("lease", f.lease)
	}
	if cmd.Flags().Changed("ttl") {
		if err := kv.CheckTTL(f.ttl); err != nil {
			return nil, cli.Wrong("--ttl: %w", err)
		}
		if f.lease != "" {
			return nil, cli.Wrong("--ttl makes a lease of its own: without --lease")
		}
		query.Set("ttl", f.ttl.String())
	}
	return query, nil
}

// write sends a command that writes a key.
func (f *writeFlags) write(g *globals, cmd *cobra.Command, path string, args []string) error {
	query, err := f.query(cmd, args[0])
	if err != nil {
		return err
	}
	var body []byte
	if len(args) > 1 {
		if body, err = inputValue(cmd, args[1], kv.MaxValueBytes); err != nil {
			return err
		}
		if len(body) > kv.MaxValueBytes {
			return cli.Wrong("VALUE: %w", kv.ErrValue)
		}
	}
	return f.attempt.write(g, cmd, path, query, body)
}

// writeText describes a command that was carried out.
func writeText(w io.Writer, a *api.KVWrite) error {
	text := "done"
	if a.Version != "" {
		text = "version " + a.Version
	}
	if a.Lease != "" {
		text += ", lease " + a.Lease
	}
	if a.Transitional {
		text += fmt.Sprintf("; the view changes, and only nodes that move on with this one have it for sure: %v now", a.Fresh.Members)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

func newKVPutCommand(g *globals) *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use: "put KEY VALUE|-", Short: "Write a key", Args: cli.Args,
		Long: `Write a key, and print its new version. The value is VALUE, or the standard input if
that is "-". When the command is done, the value is in the states of the members of the
view; of a quorum on disks, if the store is linearizable with --kv-dir.`,
		Example: "  failaware kv put colour blue\n  failaware kv put session/7 \"$(hostname)\" --ttl 10s",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.write(g, cmd, "put", args) },
	}
	f.register(cmd)
	return cmd
}

func newKVCasCommand(g *globals) *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use: "cas KEY VALUE|-", Short: "Write a key if it has a version", Args: cli.Args,
		Long: `Write a key if it has the version --version, which "kv get -o json", "kv list" and each
write print; 0 means that the key must not exist. If it has another version, the exit code
is 4, and nothing was changed.`,
		Example: "  failaware kv cas colour green --version 17\n  failaware kv cas lock/a me --version 0 --ttl 10s",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("version") {
				return cli.Wrong("cas needs --version; 0 means that the key must not exist")
			}
			return f.write(g, cmd, "cas", args)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.version, "version", "", "the version that the key must have")
	return cmd
}

func newKVDeleteCommand(g *globals) *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use: "delete KEY", Short: "Delete a key", Args: cli.Args,
		Long:    "Delete a key; with --version, only if it has this version. If there is no such key, the exit code is 3.",
		Example: "  failaware kv delete colour",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.write(g, cmd, "delete", args) },
	}
	f.attempt.register(cmd)
	cmd.Flags().StringVar(&f.version, "version", "", "the version that the key must have")
	return cmd
}

// longest is how many bytes of a value a table shows.
const longest = 80

// printable returns a value on one line of a table.
func printable(b []byte) string {
	cut := ""
	if len(b) > longest {
		b, cut = b[:longest], fmt.Sprintf("… (%d bytes)", len(b))
		for len(b) > 0 && !utf8.Valid(b) && len(b) > longest-utf8.UTFMax {
			b = b[:len(b)-1] // half a rune
		}
	}
	return quoted(b) + cut
}

// quoted returns bytes as text, between quotes if there is anything but printable text: a
// terminal obeys control characters.
func quoted[T string | []byte](b T) string {
	if !utf8.ValidString(string(b)) || strings.ContainsFunc(string(b), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q", b)
	}
	return string(b)
}
