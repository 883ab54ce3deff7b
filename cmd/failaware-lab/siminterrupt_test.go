//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// The second signal ends the program although the first could not, because its output
// is not read.
func TestSimSecondInterruptEndsAtOnce(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := exec.Command("failaware-lab", "sim", "--seed", "1", "--seconds", "1000", "--trace")
	stderr := &clitest.Buffer{}
	cmd.Stdout, cmd.Stderr = w, stderr
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_, err = r.Read(make([]byte, 1)) // it runs, and will fill the pipe
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

// slowly is a writer that takes its time.
type slowly struct{ clitest.Buffer }

func (s *slowly) Write(b []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return s.Buffer.Write(b)
}

// What is interrupted ends only when it has said so, even if its work ends at once.
func TestInterruptionIsAlwaysSaid(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var stderr slowly
	_, stop := interruptible(ctx, &stderr)
	cancel()
	stop()
	require.Contains(t, stderr.String(), "interrupted")
}
