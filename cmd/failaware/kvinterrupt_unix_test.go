//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// A command that is interrupted while its answer is awaited says how to learn its outcome, and
// dies by the signal.
func TestInterruptedCommands(t *testing.T) {
	came, ended := make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/kv/session/open", func(w http.ResponseWriter, _ *http.Request) {
		api.Answer(w, http.StatusOK, api.KVSession{Session: "1/0000000000000007/o1"})
	})
	mux.HandleFunc("POST /v1/kv/put", func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-ended
	})
	socket := serveAt(t, mux)
	t.Cleanup(func() { close(ended) })
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, out, stderr := clitest.Start(t, "failaware --addr "+socket+" kv put colour blue --timeout 1h")
		<-came
		require.NoError(t, cmd.Process.Signal(s))
		var died *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &died)
		require.Equal(t, s, died.Sys().(syscall.WaitStatus).Signal())
		require.Empty(t, out.String())
		require.Equal(t, "failaware: interrupted; the outcome is not known: repeat the command, at any node, with --session 1/0000000000000007/o1 --number 1\n", stderr.String())
	}
}

// A command that was started to ignore a signal, as by a shell in the background, goes on. The
// test is a process of its own, because the processes of other tests would ignore it as well.
func TestCommandsIgnoreWhatTheyWereStartedToIgnore(t *testing.T) {
	if os.Getenv("IGNORES_SIGINT") == "" {
		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(self, "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "IGNORES_SIGINT=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: "+t.Name())
		return
	}
	signal.Ignore(syscall.SIGINT)
	leave := new(attempt).interruptible(io.Discard)
	defer leave()
	require.True(t, signal.Ignored(syscall.SIGINT))
}

// When the outcome is known, a signal ends the command as it ends any other.
func TestCommandsInterruptedAfterTheirOutcome(t *testing.T) {
	came, ended := make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/kv/session/open", func(w http.ResponseWriter, _ *http.Request) {
		api.Answer(w, http.StatusOK, api.KVSession{Session: "1/0000000000000007/o1"})
	})
	mux.HandleFunc("POST /v1/kv/put", func(w http.ResponseWriter, _ *http.Request) {
		api.Answer(w, http.StatusOK, api.KVWrite{Status: "done", Version: "3"})
	})
	mux.HandleFunc("POST /v1/kv/session/close", func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-ended
	})
	socket := serveAt(t, mux)
	t.Cleanup(func() { close(ended) })
	cmd, out, stderr := clitest.Start(t, "failaware --addr "+socket+" kv put colour blue --timeout 1h")
	<-came
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	var died *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &died)
	require.Equal(t, syscall.SIGINT, died.Sys().(syscall.WaitStatus).Signal())
	require.Equal(t, "version 3\n", out.String())
	require.Empty(t, stderr.String())
}
