// Package clitest runs command-line programs in tests: within the test, or as
// processes of their own.
package clitest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli"
)

// LongEnough is how long tests wait for events that surely happen.
const LongEnough = 3 * time.Minute

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

// Seen waits until b contains what.
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

// ArgsVariable is the environment variable that turns a test binary into the
// program that it tests.
const ArgsVariable = "FAILAWARE_TEST_ARGS"

// Main runs p if [Command] started this process. TestMain calls it first.
func Main(p *cli.Program) {
	if args, set := os.LookupEnv(ArgsVariable); set {
		os.Exit(p.Run(context.Background(), strings.Fields(args), os.Stdin, os.Stdout, os.Stderr))
	}
}

// Command returns a command that runs the tested program with args. [Main] must
// be called by its TestMain.
func Command(args string, env ...string) *exec.Cmd {
	self, err := os.Executable()
	cmd := exec.Command(self)
	if err != nil {
		cmd.Err = err
	}
	cmd.Env = append(append(os.Environ(), ArgsVariable+"="+args), env...)
	return cmd
}

// Start runs the tested program as a process that ends with the test at the latest.
func Start(t *testing.T, args string, env ...string) (cmd *exec.Cmd, out, errors *Buffer) {
	t.Helper()
	cmd = Command(args, env...)
	out, errors = &Buffer{}, &Buffer{}
	cmd.Stdout, cmd.Stderr = out, errors
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, out, errors
}

// CheckHelp checks that every command of p has help, and that its flags do not
// contradict those of its parents, which shows only when it runs.
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

// CheckWrongUsage checks that p refuses args with exit code 2, no output, and a
// short message that names the program in each line and contains all of want.
func CheckWrongUsage(t *testing.T, p *cli.Program, args []string, want ...string) {
	t.Helper()
	code, out, err := Invoke(p, args...)
	require.Equal(t, 2, code, "%v: %s", args, err)
	require.Empty(t, out, args)
	for _, w := range want {
		require.Contains(t, err, w, args)
	}
	require.LessOrEqual(t, strings.Count(err, "\n"), 3, err)
	prefix := p.Root().Name() + ": "
	for line := range strings.Lines(err) {
		require.True(t, strings.HasPrefix(line, prefix), line)
		require.NotContains(t, strings.TrimPrefix(line, prefix), "failaware: ")
	}
}
