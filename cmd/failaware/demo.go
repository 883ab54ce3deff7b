package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/demo"
)

// demoFlags are the flags of the demonstration.
type demoFlags struct {
	options demo.Options
	script  bool
	http    string
	during  time.Duration
	timed   bool // --for is given
}

func newDemoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch nodes elect leaders and agree while you cut, slow, pause and crash them",
		Long: `Run nodes in this process that talk over real UDP on loopback. Watch their leaders and
views, and whether these are up to date, while you cut and slow links, and pause, crash
and restart nodes. The demonstration checks all the time that every promise holds.

On a terminal there is a picture, and the key ? explains the others. Without a terminal, on
one that only prints lines (TERM=dumb), and with -o json or ndjson, the command prints events for some time (--for). With
--script it plays a fixed story, and the exit code is 1 if a step fails.

With --http there is also a page for browsers of this machine, which shows the same and
more, and has the faults as buttons. Without a terminal the command runs until it is
interrupted then, unless there is --for.`,
		Example: `  failaware demo
  failaware demo --nodes 7 --preset lan
  failaware demo --http 127.0.0.1:8080
  failaware demo --script
  failaware demo --for 5s -o json | jq .`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.IntVar(&f.options.Nodes, "nodes", 5, "how many nodes there are, 2 to 9 (the script needs 5)")
	fl.StringVar(&f.options.Preset, "preset", "local", "the timing: local, lan or wan")
	fl.BoolVar(&f.script, "script", false, "play a fixed story and check every step")
	fl.StringVar(&f.http, "http", "", "serve the page at this loopback address, HOST:PORT; port 0 lets the system choose")
	fl.DurationVar(&f.during, "for", 10*time.Second, "without a terminal: for how long to print events")
	return cmd
}

func (f *demoFlags) run(cmd *cobra.Command) (err error) {
	f.timed = cmd.Flags().Changed("for")
	if err := f.check(); err != nil {
		return cli.Wrong("%w", err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), heeded(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)...)
	defer stop()
	f.options.Talk = f.http != ""
	world, err := demo.NewWorld(f.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	if f.http != "" {
		if err := f.serve(ctx, cmd, world); err != nil {
			return err
		}
	}
	out := demo.Output{To: cmd.OutOrStdout(), JSON: cli.FormatOf(cmd) != cli.AsTable}
	if f.script {
		return demo.Tell(ctx, world, &out)
	}
	if err := world.StartAll(); err != nil {
		return err
	}
	if out.JSON || !onTerminal(out.To) {
		return demo.Plain(ctx, world, &out, f.during)
	}
	return demo.Interactive(ctx, world)
}

// serve serves the page until ctx is done.
func (f *demoFlags) serve(ctx context.Context, cmd *cobra.Command, world *demo.World) error {
	l, err := api.ListenTCP(f.http)
	if err != nil {
		return cli.Wrong("--http: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the page is at http://%s/\n", l.Addr())
	world.Note("the page is at http://%s/", l.Addr())
	web := demo.NewWeb(ctx, world, cli.Version())
	go func() {
		if err := web.Serve(ctx, l); err != nil {
			world.Note("the page is no longer available: %v", err)
		}
	}()
	if !f.timed {
		f.during = untilInterrupted
	}
	return nil
}

// untilInterrupted is longer than any demonstration.
const untilInterrupted = 100 * 365 * 24 * time.Hour

func (f *demoFlags) check() error {
	if f.http != "" && !api.LoopbackAddr(f.http) {
		return fmt.Errorf("--http: %q is not HOST:PORT of a loopback address", f.http)
	}
	if f.http != "" && f.script {
		return errors.New("--http: the story of --script has no page")
	}
	if f.script && f.options.Nodes < demo.LeastStoryNodes {
		return fmt.Errorf("--script: the story needs at least %d nodes", demo.LeastStoryNodes)
	}
	if f.script && f.timed {
		return errors.New("--for: the story of --script has an end of its own")
	}
	if f.during <= 0 {
		return fmt.Errorf("--for: %v is not positive", f.during)
	}
	return f.options.Check()
}

// onTerminal reports whether there are a keyboard and a screen on which a picture can be
// drawn.
func onTerminal(out io.Writer) bool {
	return out == os.Stdout && !isDumb(os.Getenv("TERM")) && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// isDumb reports whether a terminal, by the variable TERM, only prints lines.
func isDumb(name string) bool { return name == "dumb" || strings.HasPrefix(name, "dumb-") }
