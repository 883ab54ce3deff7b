package clitest

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli"
)

// Buffer is a bytes.Buffer for concurrent use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns everything written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Seen waits until b contains a text.
func Seen(t *testing.T, b *Buffer, what string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(b.String(), what) }, LongEnough, 5*time.Millisecond, what)
}

// Invoke runs p within the test, without standard input.
func Invoke(p *cli.Program, args ...string) (code int, stdout, stderr string) {
	return InvokeWith(p, "", args...)
}

// InvokeWith runs p within the test, with a standard input.
func InvokeWith(p *cli.Program, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err Buffer
	code = p.Run(context.Background(), args, strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

// Start runs a command of [Main] as a process that ends with the test at the latest.
func Start(t *testing.T, command string) (cmd *exec.Cmd, out, errors *Buffer) {
	t.Helper()
	args := strings.Fields(command)
	cmd = exec.Command(args[0], args[1:]...)
	out, errors = &Buffer{}, &Buffer{}
	cmd.Stdout, cmd.Stderr = out, errors
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, out, errors
}

// CheckExamples checks that every command of p teaches by examples, and that these are
// right: each line is a comment or a command of p with flags that exist, perhaps after
// variables and between others in a pipe.
func CheckExamples(t *testing.T, p *cli.Program) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() && cmd.Runnable() && !strings.Contains(cmd.CommandPath(), " completion") {
			require.NotEmpty(t, cmd.Example, "%s has no example", cmd.CommandPath())
		}
		own := false
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			_, after, found := strings.Cut(" "+line, " "+p.Root().Name()+" ")
			require.True(t, found, "%s: %q does not call it", cmd.CommandPath(), line)
			after, _, _ = strings.Cut(after, " |")
			after, _, _ = strings.Cut(after, " &&")
			root := p.Root()
			called, args, err := root.Find(words(after))
			require.NoError(t, err, line)
			require.NoError(t, called.ParseFlags(args), line)
			if called.Args != nil {
				require.NoError(t, called.ValidateArgs(called.Flags().Args()), line)
			}
			own = own || called.CommandPath() == cmd.CommandPath() || strings.HasPrefix(called.CommandPath(), cmd.CommandPath()+" ")
		}
		require.True(t, own || cmd.Example == "" || !cmd.HasParent(), "%s: no example is of it", cmd.CommandPath())
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(p.Root())
}

// words splits a command line, in which single quotes keep words together.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// CheckHelp checks that every command of p has help, and that its flags do not
// contradict those of its parents, which otherwise shows only when the command runs.
func CheckHelp(t *testing.T, p *cli.Program) {
	t.Helper()
	var walk func(path []string, cmd *cobra.Command)
	walk = func(path []string, cmd *cobra.Command) {
		code, out, err := Invoke(p, append(path, "--help")...)
		require.Zero(t, code, path)
		require.NotEmpty(t, out)
		require.Empty(t, err)
		for _, c := range cmd.Commands() {
			require.True(t, c.Short != "" || c.Hidden, "%v %s has no short description", path, c.Name())
			walk(append(path[:len(path):len(path)], c.Name()), c)
		}
	}
	walk(nil, p.Root())
}
