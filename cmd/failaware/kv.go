package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
)

// Exit codes of the commands of the store, besides those of all commands.
const (
	exitNotFound    cli.ExitCode = 3
	exitMismatch    cli.ExitCode = 4
	exitUnavailable cli.ExitCode = 5
	exitUnknown     cli.ExitCode = 6
)

func newKVCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "kv", Short: "Read and write the key-value store of the group", Args: cobra.NoArgs,
		Long: `Read and write the key-value store of a group whose nodes run with --kv. Any node can
be asked. Each answer says whether it is up to date, and a node that cannot answer says why.

Exit codes: 0 done, 1 no, 2 wrong usage or it can never succeed, 3 there is no such key,
lease or conflict, 4 the key has another version, 5 not available, and nothing was
changed, 6 the outcome is unknown. put, cas and delete are carried out once: they are sent
again until their outcome is known, and if --timeout or a signal ends them before, they say
how to go on.`,
		Example: `  failaware kv put colour blue
  failaware kv get colour
  failaware kv cas colour green --version 1
  failaware kv watch --current`,
		RunE: cli.Help,
	}
	cmd.AddCommand(newKVGetCommand(g), newKVPutCommand(g), newKVCasCommand(g), newKVDeleteCommand(g), newKVListCommand(g), newKVImportCommand(g),
		newKVWatchCommand(g), newKVLeaseCommand(g), newKVSessionCommand(g), newKVConflictsCommand(g), newKVResolveCommand(g), newKVStatusCommand(g),
		newKVBootstrapCommand(g))
	return cmd
}

// askStore asks the store of a node, and prints the answer, which may be that there is none.
func askStore[T any](g *globals, cmd *cobra.Command, method, path string, query url.Values, text func(io.Writer, *T) error) error {
	var answer T
	return g.store(cmd, method, path, query, &answer, func(w io.Writer) error { return text(w, &answer) })
}

// store is askStore for an answer of any type.
func (g *globals) store(cmd *cobra.Command, method, path string, query url.Values, answer any, text func(io.Writer) error) error {
	c, err := g.client()
	if err != nil {
		return err
	}
	return printStore(cmd, method, g.ask(cmd, c, method, path, query, answer), answer, text)
}

// ask asks the store by a client, and decodes the answer, which comes within the timeout.
func (g *globals) ask(cmd *cobra.Command, c *api.Client, method, path string, query url.Values, answer any) error {
	ctx, cancel := g.within(cmd.Context(), defaultTimeout)
	defer cancel()
	setWait(ctx, query)
	return c.AskStore(ctx, method, path, query, nil, answer)
}

// setWait sets the parameter wait of query so that the node answers before ctx ends.
func setWait(ctx context.Context, query url.Values) {
	if end, limited := ctx.Deadline(); limited {
		left := time.Until(end)
		wait := min(left-min(left/5, time.Second), api.MostPatience)
		query.Set("wait", max(time.Millisecond, wait).Round(time.Millisecond).String())
	}
}

// printStore prints the answer to a request that had an error or none.
func printStore(cmd *cobra.Command, method string, err error, answer any, text func(io.Writer) error) error {
	if err == nil {
		err = cli.Print(cmd, answer, text)
		if err != nil && method == http.MethodPost {
			return &cli.ExitError{Code: exitUnknown, Err: fmt.Errorf("the command is carried out, but its answer could not be written: %w", err)}
		}
		return err
	}
	e, said := errors.AsType[*api.StatusError](err)
	if said && (e.Code == http.StatusNotFound || e.Code == http.StatusConflict) && cli.FormatOf(cmd) != cli.AsTable {
		err = errors.Join(err, cli.Print(cmd, answer, nil))
	}
	return kvError(method, err)
}

// kvError gives an error of the store its exit code.
func kvError(method string, err error) *cli.ExitError {
	code := cli.ExitNo
	if e, ok := errors.AsType[*api.StatusError](err); ok {
		switch e.Code {
		case http.StatusNotFound:
			if code = exitNotFound; e.NoPath() {
				code = cli.ExitWrong
			}
		case http.StatusConflict:
			code = exitMismatch
		case http.StatusServiceUnavailable:
			if code = exitUnavailable; e.Foreign && method == http.MethodPost {
				code = exitUnknown // a proxy's: the node may have had the request
			}
		case http.StatusGone:
			if code = cli.ExitWrong; method == http.MethodPost {
				code = exitUnknown // the session has forgotten the outcome of its commands
			}
		case http.StatusInsufficientStorage:
			if !e.OfStore() && method == http.MethodPost {
				code = exitUnknown // a proxy's: the node may have had the request
			}
		default:
			switch {
			case e.Code < http.StatusInternalServerError, e.Code == http.StatusNotImplemented:
				code = cli.ExitWrong
			case method == http.MethodPost: // 504 of a node, or any code of a proxy
				code = exitUnknown
			default: // by a proxy: a read has no other outcome
				code = exitUnavailable
			}
		}
	} else if e, ok := errors.AsType[*api.UnreachableError](err); ok {
		code = exitUnavailable
		if e.Distrusted() {
			code = cli.ExitWrong
		} else if dial, ok := errors.AsType[*net.OpError](e); method == http.MethodPost && !(ok && dial.Op == "dial") {
			code = exitUnknown // the node may have had the request
		}
	} else if e, ok := errors.AsType[*cli.ExitError](err); ok {
		return e
	} else if neverSucceeds(err) { // the socket of another user was asked nothing
		code = cli.ExitWrong
	} else if isForeign(err) && method == http.MethodPost {
		code = exitUnknown
	}
	return &cli.ExitError{Code: code, Err: err}
}

// valueOf returns the bytes of a value of an answer.
func valueOf(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("the value that the node sent is not base64")
	}
	return b, nil
}

// inputValue returns a value from the command line, or the standard input if that is "-".
// It returns an error if the standard input has more than most bytes.
func inputValue(cmd *cobra.Command, arg string, most int) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), int64(most)+1))
	if err == nil && len(b) > most {
		return nil, cli.Wrong("the standard input is larger than %d bytes", most)
	}
	return b, err
}

// checkKey returns an error of usage for a key that no store accepts.
func checkKey(key string) error {
	if err := kv.CheckKey(key); err != nil {
		return cli.Wrong("KEY: %w", err)
	}
	return nil
}

// warnStale prints the reason why an answer may be old, if any, to standard error.
func warnStale(cmd *cobra.Command, f *api.KVFresh) {
	w := cli.Text(cmd.ErrOrStderr())
	switch {
	case f.Latest:
	case f.UpToDate && f.Behind == 0:
		fmt.Fprintf(w, "failaware: as this node knows it: others of %v may have written since\n", f.Members)
	case f.Situation != "at work":
		fmt.Fprintf(w, "failaware: this may be old: %s\n", f.Situation)
	default:
		fmt.Fprintf(w, "failaware: this may be old: the view is not up to date, or %d changes wait\n", f.Behind)
	}
}
