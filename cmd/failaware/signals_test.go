//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	clitest.Main(&program)
	if path := os.Getenv(scribeFile); path != "" {
		os.Exit(scribe(path))
	}
	os.Exit(m.Run())
}

func TestSignalsReloadAndLeaveAndSystemdHearsOfIt(t *testing.T) {
	dir := shortDir(t)
	notify := filepath.Join(dir, "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	require.NoError(t, err)
	defer systemd.Close()
	said := make(chan string, 16)
	go func() {
		for b := make([]byte, 1024); ; {
			n, err := systemd.Read(b)
			if err != nil {
				return
			}
			said <- string(b[:n])
		}
	}()
	hear := func(want string) {
		t.Helper()
		select {
		case s := <-said:
			require.True(t, strings.HasPrefix(s, want), "%q instead of %q", s, want)
		case <-time.After(clitest.LongEnough):
			require.FailNow(t, "systemd does not hear "+want)
		}
	}
	friend := startProcess(t, "--id", "2")
	file := filepath.Join(dir, "node.yaml")
	require.NoError(t, os.WriteFile(file, []byte("id: 1\n"), 0o600))
	socket := filepath.Join(dir, "api")
	cmd, out, stderr := clitest.Start(t, "node --config "+file+" --api "+socket, "NOTIFY_SOCKET="+notify)
	hear("READY=1")
	clitest.Seen(t, out, "least expires")

	require.NoError(t, os.WriteFile(file, []byte("id: 1\npeers: [2="+addressOf(t, friend)+"]\n"), 0o600))
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	hear("RELOADING=1")
	hear("READY=1")
	code, text, problem := invoke("wait", "view", "--members", "2", "--addr", socket, "--timeout", clitest.LongEnough.String())
	require.Zero(t, code, text+problem)

	require.NoError(t, os.WriteFile(file, []byte("id: 1\npeers: [nonsense]\n"), 0o600))
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	clitest.Seen(t, stderr, "the peers stay the same")
	require.Contains(t, stderr.String(), file+":2: peers[0]")
	hear("RELOADING=1")
	hear("READY=1")

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	hear("STOPPING=1")
	require.NoError(t, cmd.Wait())
	require.Regexp(t, `node 1 (gave up the lead and )?left after`, out.String())
	require.NoFileExists(t, socket)
}

// The report of a process that is killed holds everything that it vouched for.
func TestReportsOfKilledProcessesKeepTheRules(t *testing.T) {
	dir := shortDir(t)
	addrs := freePorts(t, 3)
	args := func(i int) string {
		s := fmt.Sprintf("node --id %d --listen %s --api %s/%d --report %s/%d.report --state-dir %s/state --quorum majority:1,2,3", i+1, addrs[i], dir, i, dir, i, dir)
		for j, a := range addrs {
			if j != i {
				s += fmt.Sprintf(" --peer %d=%s", j+1, a)
			}
		}
		return s
	}
	var cmds []*exec.Cmd
	for i := range addrs {
		cmd, _, _ := clitest.Start(t, args(i))
		cmds = append(cmds, cmd)
	}
	whole := func(i, members int) {
		t.Helper()
		code, text, problem := invoke("wait", "view", "--members", fmt.Sprint(members), "--addr", fmt.Sprintf("%s/%d", dir, i), "--timeout", clitest.LongEnough.String())
		require.Zero(t, code, text+problem)
	}
	for round := range 3 {
		for i := range addrs {
			whole(i, 3)
		}
		require.NoError(t, cmds[round].Process.Kill())
		_ = cmds[round].Wait()
		whole((round+1)%3, 1)
		cmds[round], _, _ = clitest.Start(t, args(round)) // the socket of the dead one is still there
	}
	whole(0, 3)
	var reports []string
	for i := range addrs {
		reports = append(reports, fmt.Sprintf("%s/%d.report", dir, i))
	}
	audit(t, reports)
}

func TestWatchGoesOnAfterARestart(t *testing.T) {
	socket := filepath.Join(shortDir(t), "api")
	cmd, _, _ := clitest.Start(t, "node --id 1 --api "+socket)
	require.Eventually(t, func() bool { _, err := os.Stat(socket); return err == nil }, clitest.LongEnough, time.Millisecond)
	watch, out, stderr := clitest.Start(t, "watch leader --since 0 --addr "+socket)
	clitest.Seen(t, out, "elected")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	clitest.Seen(t, stderr, "trying again")
	clitest.Start(t, "node --id 1 --api "+socket)
	clitest.Seen(t, stderr, "the node was restarted; its events start again")
	require.Eventually(t, func() bool { return strings.Count(out.String(), " elected ") == 2 }, clitest.LongEnough, 5*time.Millisecond)
	require.NoError(t, watch.Process.Signal(os.Interrupt))
	require.NoError(t, watch.Wait())
	lines := bufio.NewScanner(strings.NewReader(out.String()))
	for lines.Scan() {
		require.NotContains(t, lines.Text(), "view-")
	}
}
