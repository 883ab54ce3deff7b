//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/leader/edict"
)

// script writes a shell script, and returns its path.
func script(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(shortDir(t), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700))
	return path
}

// exitOf waits for the end of a process, and returns its exit code.
func exitOf(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(clitest.LongEnough):
		require.FailNow(t, "the process does not end")
	}
	return cmd.ProcessState.ExitCode()
}

func TestLockPassesTheCommandsEndOn(t *testing.T) {
	n := startProcess(t, "--id", "1", "--quorum", "majority:1")
	lock := func(args ...string) (int, string, string) {
		return n.ask(append([]string{"lock", "--timeout", clitest.LongEnough.String()}, args...)...)
	}
	// A busy machine may take the lead from a node at any time, and lock then says so.
	unless := func(err string) bool { return strings.Contains(err, "lead") }
	for name, c := range map[string]struct {
		line string
		code int
		out  string
	}{
		"its code":    {"exit 7", 7, ""},
		"none":        {"echo $FAILAWARE_LEADER; echo $1", 0, "1\n--global\n"},
		"by a signal": {"kill -9 $$", 128 + 9, ""},
	} {
		require.Eventually(t, func() bool {
			code, out, err := lock("--", script(t, c.line), "--global")
			if unless(err) {
				return false
			}
			require.Equal(t, c.code, code, name+err)
			require.Equal(t, c.out, out)
			return true
		}, clitest.LongEnough, time.Millisecond)
	}
	require.Eventually(t, func() bool {
		_, out, err := lock("--global", "--token", "volume-7", "--", script(t, "echo $FAILAWARE_EDICT"))
		if unless(err) {
			return false
		}
		e, problem := edict.Parse(strings.TrimSpace(out))
		require.NoError(t, problem)
		require.Equal(t, edict.Sum([]byte("volume-7")), e.Digest)
		return true
	}, clitest.LongEnough, time.Millisecond)

	plain := filepath.Join(shortDir(t), "plain")
	require.NoError(t, os.WriteFile(plain, []byte("#!/nonexistent/shell\n"), 0o700))
	code, _, err := lock("--", plain)
	require.Equal(t, 2, code, err)
	code, _, err = lock("--term-before", "1m", "--", "true")
	require.Equal(t, 2, code)
	require.Contains(t, err, "--term-before: 1m0s is too long: of the node's lock_time of 80ms, only 22.7ms are sure to be left")
	code, _, err = n.ask("lock", "--resign", "--timeout", clitest.LongEnough.String(), "--", "true")
	require.True(t, code == 0 || unless(err), err)
}

func TestLockWithoutALeader(t *testing.T) {
	code, _, err := invoke("lock", "--addr", shortDir(t)+"/none", "--timeout", "50ms", "--", "true")
	require.Equal(t, 1, code)
	require.Contains(t, err, "lock: not in time; no node answers at")
	n := startProcess(t, "--id", "1") // without a quorum system
	code, _, err = n.ask("lock", "--global", "--timeout", "500ms", "--", "true")
	require.Equal(t, 1, code)
	require.Contains(t, err, "this node does not lead globally, and knows of nobody who does")
	cmd, _, _ := clitest.Start(t, "lock --addr "+n.socket+" --global -- true")
	time.Sleep(100 * time.Millisecond) // until it waits; before, the signal ends it as well
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	if code := exitOf(t, cmd); code != -1 { // -1: it had not begun
		require.Equal(t, 128+int(syscall.SIGTERM), code)
	}
}

func TestLockPassesSignalsOn(t *testing.T) {
	n := startProcess(t, "--id", "1")
	command := script(t, "trap 'echo heard; exit 5' TERM", "echo begun", "while :; do sleep 0.01; done")
	require.Eventually(t, func() bool {
		cmd, out, err := clitest.Start(t, "lock --addr "+n.socket+" -- "+command)
		clitest.Seen(t, out, "begun")
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		code := exitOf(t, cmd)
		if strings.Contains(err.String(), "lead") {
			return false // the lead was lost before the command had heard it
		}
		require.Equal(t, 5, code, err.String())
		require.Contains(t, out.String(), "heard")
		return true
	}, clitest.LongEnough, time.Millisecond)
}

// The lead is given up under the command: it hears SIGTERM if that was wanted,
// ends, and runs again in the next lead.
func TestLockEndsTheCommandWithTheLead(t *testing.T) {
	n := startProcess(t, "--id", "1", "--lock-time", "1s", "--max-lock-time", "1s")
	resign := func() {
		require.Eventually(t, func() bool {
			code, _, _ := n.ask("leader", "resign")
			return code == 0
		}, clitest.LongEnough, time.Millisecond)
	}
	endless := script(t, "trap 'echo heard' TERM", "echo begun", "while :; do sleep 0.01; done")
	cmd, out, err := clitest.Start(t, "lock --addr "+n.socket+" -- "+endless)
	clitest.Seen(t, out, "begun")
	resign()
	require.Equal(t, 1, exitOf(t, cmd))
	require.Contains(t, err.String(), "lead")
	require.Contains(t, err.String(), "was killed")
	require.NotContains(t, out.String(), "heard")

	cmd, out, err = clitest.Start(t, "lock --again --term-before 300ms --addr "+n.socket+" -- "+endless)
	clitest.Seen(t, out, "begun")
	resign()
	clitest.Seen(t, err, "waiting for the next lead")
	require.Eventually(t, func() bool { return strings.Count(out.String(), "begun") >= 2 }, clitest.LongEnough, time.Millisecond)
	require.Contains(t, out.String(), "heard")
	require.NoError(t, cmd.Process.Kill())
}
