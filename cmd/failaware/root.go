package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
)

// run runs the program with its arguments, and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runContext(context.Background(), args, stdin, stdout, stderr)
}

// runContext is as run; when ctx is done, what runs is ended as by a signal.
func runContext(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && usageOf(cmd, err) {
		err = &lineError{err, cmd.CommandPath()}
	}
	if err != nil {
		_, _ = io.WriteString(stderr, message(err))
	}
	return int(codeOf(err))
}

// globals are the options of all commands that ask a node.
type globals struct {
	addr    string
	output  format
	timeout time.Duration
	token   string
}

// defaultTimeout is how long one question may take.
const defaultTimeout = 5 * time.Second

// began is the annotation of a command line that was understood: what fails
// from then on is no matter of usage.
const began = "began"

func usageOf(cmd *cobra.Command, err error) bool {
	return cmd == nil || cmd.Annotations[began] == ""
}

func newRootCommand() *cobra.Command {
	g := &globals{output: "table"}
	root := &cobra.Command{
		Use:   "failaware",
		Short: "Leaders, views and clocks that know when they may not be relied on",
		Long: `Runs nodes of fail-aware groups, and asks them.

Exit codes: 0 yes or done, 1 no or not in time, 2 wrong usage or it can never succeed.`,
		SilenceErrors: true, SilenceUsage: true, Version: version(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.StringVar(&g.addr, "addr", "", "a node's API: socket path, unix:PATH or http://LOOPBACK:PORT (FAILAWARE_ADDR; default "+api.DefaultSocket()+")")
	f.VarP(&g.output, "output", "o", "table, json or ndjson")
	f.DurationVar(&g.timeout, "timeout", 0, "how long to wait for the answer (default 5s)")
	f.StringVar(&g.token, "token-file", "", "file with the token of an http:// address (FAILAWARE_TOKEN_FILE)")
	root.AddCommand(newNodeCommand(g), newConfigCommand(g), newStatusCommand(g), newMembersCommand(g),
		newLeaderCommand(g), newViewCommand(g), newClockCommand(g), newWatchCommand(g), newWaitCommand(g),
		newBroadcastCommand(g), newDeliveriesCommand(g), newEdictCommand(g), newEpochCommand(g), newLockCommand(g))
	root.AddCommand(otherCommands()...)
	understand(root)
	return root
}

// understand notes for every command when its command line was understood.
func understand(cmd *cobra.Command) {
	if inner := cmd.RunE; inner != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if cmd.Annotations == nil {
				cmd.Annotations = map[string]string{}
			}
			cmd.Annotations[began] = "yes"
			return inner(cmd, args)
		}
	}
	for _, c := range cmd.Commands() {
		understand(c)
	}
}

// version returns the version that the program was built as.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// client returns a client for the node that is to be asked.
func (g *globals) client() (*api.Client, error) {
	if g.timeout < 0 {
		return nil, wrong("--timeout must not be below 0")
	}
	where, token := g.addr, g.token
	if where == "" {
		where = os.Getenv("FAILAWARE_ADDR")
	}
	if where == "" {
		where = api.DefaultSocket()
	}
	addr, err := api.ParseAddress(where)
	if err != nil {
		return nil, wrong("%w", err)
	}
	if token == "" {
		token = os.Getenv("FAILAWARE_TOKEN_FILE")
	}
	if addr.URL == "" || token == "" {
		return api.NewClient(addr, ""), nil
	}
	secret, err := api.ReadToken(token)
	if err != nil {
		return nil, wrong("%w", err)
	}
	return api.NewClient(addr, secret), nil
}

// within returns a context for one question.
func (g *globals) within(ctx context.Context, otherwise time.Duration) (context.Context, context.CancelFunc) {
	d := g.timeout
	if d <= 0 {
		d = otherwise
	}
	return context.WithTimeout(ctx, d)
}

// ask asks one question.
func (g *globals) ask(ctx context.Context, path string, v any) error {
	c, err := g.client()
	if err != nil {
		return err
	}
	ctx, cancel := g.within(ctx, defaultTimeout)
	defer cancel()
	return c.Get(ctx, path, v)
}

// format is how answers are printed.
type format string

var formats = []string{"table", "json", "ndjson"}

func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "format" }
func (f *format) Set(s string) error {
	if !slices.Contains(formats, s) {
		return fmt.Errorf("it is none of %s", strings.Join(formats, ", "))
	}
	*f = format(s)
	return nil
}
