//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// The first signal ends a campaign with what it has found.
func TestSimInterruptedCampaign(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		report := filepath.Join(t.TempDir(), "report.md")
		cmd, out, stderr := clitest.Start(t, "sim --time 10h --seconds 2 --report "+report)
		clitest.Seen(t, stderr, " violations, ") // progress
		require.NoError(t, cmd.Process.Signal(sig))
		require.Error(t, cmd.Wait())
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), stderr.String())
		require.Contains(t, stderr.String(), "interrupted")
		m := lastLine(t, out.String())
		require.Equal(t, true, m["interrupted"])
		require.NotZero(t, m["seeds"])
		require.Regexp(t, `faults, 0 violations, \S+ left\n`, stderr.String())
		b, err := os.ReadFile(report)
		require.NoError(t, err)
		require.Contains(t, string(b), "Interrupted.")
	}
}

// So does it end a single run, however long.
func TestSimInterruptedRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.json")
	cmd, out, stderr := clitest.Start(t, "sim --seed 1 --seconds 9999999 --calm --trace --save "+file)
	clitest.Seen(t, out, "LEADS")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), stderr.String())
	text := out.String()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(text[strings.LastIndexByte(text[:len(text)-1], '\n')+1:]), &m))
	require.Equal(t, true, m["interrupted"])
	require.FileExists(t, file)
}

// The second signal ends the program although the first could not: nobody
// reads what it writes.
func TestSimSecondInterruptEndsAtOnce(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := clitest.Command("sim --seed 1 --seconds 1000 --trace")
	stderr := &clitest.Buffer{}
	cmd.Stdout, cmd.Stderr = w, stderr
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_, err = r.Read(make([]byte, 1)) // it runs, and is going to fill the pipe
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	clitest.Seen(t, stderr, "interrupt again to end at once")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.True(t, status.Signaled())
	require.Equal(t, os.Interrupt, os.Signal(status.Signal()))
}
