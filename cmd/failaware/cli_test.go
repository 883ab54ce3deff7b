package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// invoke runs the program within the test.
func invoke(args ...string) (code int, stdout, stderr string) {
	return clitest.Invoke(&program, args...)
}

// shortDir returns a directory whose path leaves room for sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// serveAt serves a mux at a socket, as the API of a node is, until the test ends.
func serveAt(t testing.TB, mux *http.ServeMux) string {
	socket := filepath.Join(shortDir(t), "api")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	srv := &http.Server{Handler: mux}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return socket
}

// process is `failaware node`, in this process.
type process struct {
	socket   string
	out, err clitest.Buffer
	stop     context.CancelFunc
	done     chan struct{}
	code     int
}

// runProcess starts a node that ends with the test, or by itself.
func runProcess(t *testing.T, args ...string) *process {
	t.Helper()
	return runProcessWith(t, context.Background(), args...)
}

// runProcessWith is runProcess with a context that the node starts with.
func runProcessWith(t *testing.T, ctx context.Context, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	p := &process{socket: filepath.Join(shortDir(t), "api"), stop: cancel, done: make(chan struct{})}
	if !slices.Contains(args, "--api") {
		args = append([]string{"--api", p.socket}, args...)
	}
	args = append([]string{"node"}, args...)
	go func() {
		defer close(p.done)
		p.code = program.Run(ctx, args, strings.NewReader(""), &p.out, &p.err)
	}()
	t.Cleanup(func() {
		cancel()
		<-p.done
		if t.Failed() {
			t.Log(strings.Join(args, " "), "\n", p.out.String(), p.err.String())
		}
	})
	return p
}

// end waits until a node has ended by itself, and returns its exit code.
func (p *process) end(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(clitest.LongEnough):
		require.FailNow(t, "the node does not end", p.err.String())
	}
	return p.code
}

// ask runs a command that asks the node.
func (p *process) ask(args ...string) (code int, stdout, stderr string) {
	return invoke(append([]string{"--addr", p.socket}, args...)...)
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(shortDir(t), "node.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
