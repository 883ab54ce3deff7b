package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Program is a command-line program.
type Program struct {
	Root func() *cobra.Command // makes the root command, whose name is the program's
	// Never reports errors that no repetition can avoid, which end the program
	// with [ExitWrong]. It may be nil.
	Never func(error) bool
	// Elsewhere says of commands that people look for in vain where they are. It may be nil.
	Elsewhere map[string]string
}

// Run runs the program with its arguments and returns the exit code. When ctx is
// done, running commands end as if interrupted.
func (p *Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := p.Root()
	complete(root)
	suggestNames(root)
	markBegin(root)
	if len(args) == 0 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		refuseRepetition(root) // completion reads the same flags twice
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	help := printHelp(root)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		err = help.err
	case cmd.Annotations[began] == "" && unwritten(err): // the version
	case cmd.Annotations[began] == "":
		if other := p.Elsewhere[firstOf(args)]; other != "" && cmd == root {
			err = fmt.Errorf("unknown command %q for %q%s", args[0], root.Name(), thereIs("", other))
		}
		err = SeeHelp(cmd, err)
	}
	if err != nil {
		_, _ = io.WriteString(stderr, message(root.Name(), err))
	}
	return int(codeOf(err, p.Never))
}

// unwritten reports whether an output could not be written.
func unwritten(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Op == "write"
}

// helpOutput has the error with which the help could not be written. Cobra has no other way
// to say so.
type helpOutput struct{ err error }

// printHelp makes commands note whether their help was written.
func printHelp(root *cobra.Command) *helpOutput {
	var h helpOutput
	inner := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		var text bytes.Buffer
		cmd.SetOut(&text)
		inner(cmd, args)
		_, h.err = out.Write(text.Bytes())
	})
	return &h
}

// firstOf returns the first argument, or "".
func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Main runs the program with the arguments and streams of the process.
func (p *Program) Main() {
	os.Exit(p.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// complete sets the fields that every root command needs.
func complete(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = Version()
	completeValues(root)
}

// began is the annotation of a command after its command line was parsed: later errors
// are not about usage.
const began = "began"

// markBegin makes cmd and its subcommands set the annotation began.
func markBegin(cmd *cobra.Command) {
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
		markBegin(c)
	}
}

// Help is the RunE of commands that only group others.
func Help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// Interruptible returns a context that ends with the context of cmd or at the
// first SIGINT or SIGTERM.
func Interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
}

// message returns the lines to print for err, each beginning with the program's
// name.
func message(program string, err error) string {
	if e, ok := errors.AsType[*ExitError](err); ok && (e.Printed || e.Err == nil) {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		return program + ": interrupted\n"
	}
	var b strings.Builder
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&b, "%s: %s\n", program, Plain(strings.TrimPrefix(line, "failaware: ")))
		}
	}
	if e, ok := errors.AsType[*lineError](err); ok {
		fmt.Fprintf(&b, "%s: see '%s --help'\n", program, e.command)
	}
	return b.String()
}
