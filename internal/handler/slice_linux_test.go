package handler

import (
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/sched"
)

// The node has asked for short slices. Commands must not get them: they would compete with the
// node for what it needs to be in time.
func TestCommandsHaveTheUsualSlices(t *testing.T) {
	granted := func(pid int) uint64 {
		attr, err := unix.SchedGetAttr(pid, 0)
		require.NoError(t, err)
		return attr.Runtime
	}
	usual := granted(0)
	require.NoError(t, sched.Prompt())
	other := exec.Command("sleep", "60")
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	if granted(other.Process.Pid) == usual {
		t.Skip("this kernel grants no slices: it is older than 6.12")
	}
	file := t.TempDir() + "/pid"
	events := make(source, 1)
	s := start(t, config(), events, `leader=echo $$ >`+file+`; exec sleep 2`)
	events <- elected(1)
	pid, err := strconv.Atoi(until(t, file, 1)[0])
	require.NoError(t, err)
	require.Eventually(t, func() bool { return granted(pid) == usual }, time.Second, time.Millisecond)
	close(events)
	s.Close()
}
