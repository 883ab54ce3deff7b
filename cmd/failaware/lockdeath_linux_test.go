package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// A command does not outlive its lock, whatever killed that.
func TestTheCommandDiesWithItsLock(t *testing.T) {
	n := startProcess(t, "--id", "1")
	command := script(t, "trap '' TERM HUP", "echo pid $$", "while :; do sleep 0.01; done")
	cmd, out, _ := clitest.Start(t, "lock --addr "+n.socket+" -- "+command)
	clitest.Seen(t, out, "pid ")
	require.Eventually(t, func() bool { return strings.HasSuffix(out.String(), "\n") }, clitest.LongEnough, time.Millisecond)
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(out.String(), "pid ")))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	require.Eventually(t, func() bool { return gone(t, pid) }, clitest.LongEnough, time.Millisecond)
	_, isExit := errors.AsType[*exec.ExitError](cmd.Wait())
	require.True(t, isExit)
}

// What a command leaves in its process group does not outlive it.
func TestTheGroupDiesWithTheCommand(t *testing.T) {
	n := startProcess(t, "--id", "1")
	command := script(t, "sh -c 'while :; do sleep 0.01; done' >/dev/null 2>&1 &", "echo $!", "exit 4")
	require.Eventually(t, func() bool {
		code, out, err := n.ask("lock", "--timeout", clitest.LongEnough.String(), "--", command)
		if strings.Contains(err, "lead") {
			return false
		}
		require.Equal(t, 4, code, err)
		pid, problem := strconv.Atoi(strings.TrimSpace(out))
		require.NoError(t, problem)
		require.Eventually(t, func() bool { return gone(t, pid) }, clitest.LongEnough, time.Millisecond)
		return true
	}, clitest.LongEnough, time.Millisecond)
}

// gone reports whether a process has ended, even if nobody has collected it.
func gone(t *testing.T, pid int) bool {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	require.True(t, ok)
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
