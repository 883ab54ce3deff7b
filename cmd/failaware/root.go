package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

var program = cli.Program{Root: newRootCommand, Never: neverSucceeds, Elsewhere: map[string]string{
	"bench": "failaware-lab bench", "campaign": "failaware-lab campaign", "chaos": "failaware-lab chaos", "exhaust": "failaware-lab exhaust",
	"lab": "failaware-lab lab", "plot": "failaware-lab plot", "sim": "failaware-lab sim",
	"bridge": "failaware-nats, built from bridge/nats", "version": "failaware --version",
}}

// neverSucceeds reports errors that no repetition can avoid.
func neverSucceeds(err error) bool {
	if e, ok := errors.AsType[*api.StatusError](err); ok && (e.Code >= 400 && e.Code < 500 && e.Code != 409 || e.Code == http.StatusNotImplemented) {
		return true
	}
	if e, ok := errors.AsType[*api.UnreachableError](err); ok && e.Distrusted() {
		return true
	}
	if _, forged := errors.AsType[*api.ForgedError](err); forged {
		return true
	}
	for _, never := range []error{failaware.ErrDuplicateID, failaware.ErrInUse, failaware.ErrDamaged, failaware.ErrGroup, api.ErrInUse} {
		if errors.Is(err, never) {
			return true
		}
	}
	return false
}

// unreached reports whether no node answers, and one may answer later.
func unreached(err error) bool {
	e, gone := errors.AsType[*api.UnreachableError](err)
	return gone && !e.Distrusted()
}

// mayHaveArrived reports whether the node may have had a request that it did not answer.
func mayHaveArrived(err error) bool {
	lost, unreachable := errors.AsType[*api.UnreachableError](err)
	return unreachable && lost.MayHaveArrived() || isForeign(err)
}

// isForeign reports whether something else than a node has answered, which may have passed the
// request on.
func isForeign(err error) bool {
	_, is := errors.AsType[*api.ForeignError](err)
	return is
}

func newRootCommand() *cobra.Command {
	g := new(globals)
	root := &cobra.Command{
		Use:   "failaware",
		Short: "Leaders, views and clocks that know when they are out of date",
		Long: `Run nodes of fail-aware groups and send them requests.

Exit codes: 0 yes or done, 1 no or not in time, 2 wrong usage or it can never succeed.`,
		Args: cobra.NoArgs,
		RunE: cli.Help,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return cmp.Or(refuseEmpty(cmd), refuseZero(cmd)) },
	}
	f := root.PersistentFlags()
	f.StringVar(&g.addr, "addr", "", "a node's API: socket path, unix:PATH, http://LOOPBACK:PORT or https://HOST:PORT (FAILAWARE_ADDR; default "+api.DefaultSocket()+")")
	g.output = cli.RegisterFormat(f)
	f.DurationVar(&g.timeout, "timeout", 0, "how long to wait for the answer (default 5s, unless the command says otherwise)")
	f.StringVar(&g.token, "token-file", "", "file with the token of an http:// or https:// address (FAILAWARE_TOKEN_FILE)")
	f.StringVar(&g.secure.CA, "ca", "", "`file` with the authorities that may have signed the certificate of an https:// address (FAILAWARE_CA; default those of the system)")
	f.StringVar(&g.secure.Cert, "cert", "", "`file` with a certificate for an https:// address (FAILAWARE_CERT)")
	f.StringVar(&g.secure.Key, "key", "", "`file` with its key (FAILAWARE_KEY)")
	root.AddCommand(newNodeCommand(), newConfigCommand(), newStatusCommand(g), newMembersCommand(g),
		newLeaderCommand(g), newLeaveCommand(g), newViewCommand(g), newClockCommand(g), newWatchCommand(g), newWaitCommand(g), newWhyCommand(g),
		newBroadcastCommand(g), newDeliveriesCommand(g), newEdictCommand(g), newEpochCommand(g), newKVCommand(g), newLockCommand(g), newLockExecCommand(), newLockGuardCommand(),
		newKeygenCommand(), newKeysCommand(g), newLogLevelCommand(g), newDemoCommand())
	addExamples(root)
	completeNodes(root, g)
	return root
}

// globals are the options of all commands that send requests to a node.
type globals struct {
	addr    string
	output  *cli.Value[cli.Format]
	timeout time.Duration
	token   string
	secure  api.ClientTLS
}

// defaultTimeout is how long one request may take.
const defaultTimeout = 5 * time.Second

// client returns a client of the node at --addr.
func (g *globals) client() (*api.Client, error) {
	addr, err := api.ParseAddress(cmp.Or(g.addr, os.Getenv(prefix+"ADDR"), api.DefaultSocket()))
	if err != nil {
		return nil, cli.WrongUsage(err)
	}
	if err := g.refuseUnused(addr); err != nil {
		return nil, err
	}
	if addr.URL == "" {
		return api.NewClient(addr, ""), nil
	}
	secret := ""
	if file := cmp.Or(g.token, os.Getenv(prefix+"TOKEN_FILE")); file != "" {
		if secret, err = api.ReadToken(file); err != nil {
			return nil, cli.WrongUsage(err)
		}
	}
	if !addr.Secure() {
		return api.NewClient(addr, secret), nil
	}
	files := api.ClientTLS{CA: cmp.Or(g.secure.CA, os.Getenv(prefix+"CA")), Cert: cmp.Or(g.secure.Cert, os.Getenv(prefix+"CERT")),
		Key: cmp.Or(g.secure.Key, os.Getenv(prefix+"KEY"))}
	config, err := files.Config()
	if err != nil {
		return nil, cli.WrongUsage(err)
	}
	return api.NewSecureClient(addr, secret, config), nil
}

// refuseUnused refuses flags that an address has no use for, lest a user believe that they
// protect something. Variables of the environment may be there for other addresses.
func (g *globals) refuseUnused(addr api.Address) error {
	for _, f := range []struct{ name, value string }{{"ca", g.secure.CA}, {"cert", g.secure.Cert}, {"key", g.secure.Key}} {
		if f.value != "" && !addr.Secure() {
			return cli.Wrong("--%s: it is for https:// addresses, and %s is none", f.name, addr)
		}
	}
	if g.token != "" && addr.URL == "" {
		return cli.Wrong("--token-file: it is for http:// and https:// addresses, and %s is none", addr)
	}
	return nil
}

// within returns a context that ends after --timeout or, if that is not set,
// after otherwise.
func (g *globals) within(ctx context.Context, otherwise time.Duration) (context.Context, context.CancelFunc) {
	d := g.timeout
	if d <= 0 {
		d = otherwise
	}
	return context.WithTimeout(ctx, d)
}

// call runs f with a client of the node and a context that ends with the timeout.
func (g *globals) call(cmd *cobra.Command, timeout time.Duration, f func(context.Context, *api.Client) error) error {
	c, err := g.client()
	if err != nil {
		return err
	}
	ctx, cancel := g.within(cmd.Context(), timeout)
	defer cancel()
	return f(ctx, c)
}

// order posts to path and prints text.
func (g *globals) order(cmd *cobra.Command, path string, timeout time.Duration, text string) error {
	return g.call(cmd, timeout, func(ctx context.Context, c *api.Client) error {
		if err := c.Post(ctx, path); err != nil {
			return err
		}
		return cli.PrintLine(cmd, api.Done{Done: true}, text)
	})
}

// show gets path, prints the answer in the format of --output, and returns it.
func show[T any](g *globals, cmd *cobra.Command, path string, write func(io.Writer, *T) error) (answer T, err error) {
	err = g.show(cmd, path, &answer, func(w io.Writer) error { return write(w, &answer) })
	return answer, err
}

// show is the function show for an answer of any type.
func (g *globals) show(cmd *cobra.Command, path string, answer any, write func(io.Writer) error) error {
	return g.call(cmd, defaultTimeout, func(ctx context.Context, c *api.Client) error {
		if err := c.Get(ctx, path, answer); err != nil {
			return err
		}
		return cli.Print(cmd, answer, write)
	})
}

// line returns a function for show that writes one line.
func line[T any](prefix string, text func(*T) string) func(io.Writer, *T) error {
	return func(w io.Writer, answer *T) error {
		_, err := fmt.Fprintln(w, prefix+text(answer))
		return err
	}
}

// inWords returns an error with a word of the command line in place of the parameter that a
// node's refusal begins with.
func inWords(err error, parameter, word string) error {
	if e, ok := errors.AsType[*api.StatusError](err); ok {
		if rest, begins := strings.CutPrefix(e.Text, parameter+": "); begins {
			return cli.Wrong("%s: %s", word, rest)
		}
	}
	return err
}
