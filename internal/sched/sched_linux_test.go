package sched

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// granted returns the slices that a thread has.
func granted(t *testing.T, thread int) time.Duration {
	attr, err := unix.SchedGetAttr(thread, 0)
	require.NoError(t, err)
	return time.Duration(attr.Runtime)
}

// All threads have short slices, those too that begin later. A child has them until it is
// given the usual ones.
func TestPrompt(t *testing.T) {
	usual := granted(t, 0)
	require.NoError(t, Prompt())
	if granted(t, os.Getpid()) == usual {
		t.Skip("this kernel grants no slices: it is older than 6.12")
	}
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	require.Greater(t, len(tasks), 1)
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		require.NoError(t, err)
		require.Equal(t, slice, granted(t, id))
	}

	for range 20 { // more than the threads that there are
		of := make(chan time.Duration)
		go func() {
			runtime.LockOSThread() // and never unlocked: the next one needs another thread
			attr, err := unix.SchedGetAttr(0, 0)
			if err != nil {
				close(of)
				return
			}
			of <- time.Duration(attr.Runtime)
		}()
		require.Equal(t, slice, <-of)
	}

	child := exec.Command("sleep", "60")
	require.NoError(t, child.Start())
	defer func() {
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
	}()
	require.Equal(t, slice, granted(t, child.Process.Pid))
	require.NoError(t, Usual(child.Process.Pid))
	require.Equal(t, usual, granted(t, child.Process.Pid))
	require.ErrorIs(t, Usual(1<<22+1), unix.ESRCH)
}

// A thread that runs by another policy keeps what was chosen for it.
func TestAnotherPolicyStays(t *testing.T) {
	child := exec.Command("sleep", "60")
	require.NoError(t, child.Start())
	defer func() {
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
	}()
	const idle = 5 // SCHED_IDLE, which needs no privilege
	require.NoError(t, unix.SchedSetAttr(child.Process.Pid, &unix.SchedAttr{Policy: idle}, 0))
	before := granted(t, child.Process.Pid)
	require.NoError(t, ask(child.Process.Pid, slice))
	attr, err := unix.SchedGetAttr(child.Process.Pid, 0)
	require.NoError(t, err)
	require.EqualValues(t, idle, attr.Policy)
	require.Equal(t, before, granted(t, child.Process.Pid))
}
