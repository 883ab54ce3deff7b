package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A process of another user is not killed, and the system's word for it is passed on. One that
// has ended is no failure.
func TestAProcessOfAnotherUserIsNotKilled(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Skip("no program sleep: ", err)
	}
	const nobody = 65534
	refused, unable := make(chan error, 1), syscall.Errno(0)
	go func() {
		runtime.LockOSThread() // for ever: the thread, which alone is another user's, ends
		_, _, unable = unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
		if unable != 0 {
			refused <- nil
			return
		}
		refused <- killGroup(cmd.Process)
	}()
	err := <-refused
	require.NoError(t, killGroup(cmd.Process))
	_ = cmd.Wait() // it was killed
	require.NoError(t, killGroup(cmd.Process), "it has ended")
	if unable != 0 {
		t.Skip("root may not become another user: ", unable)
	}
	require.ErrorIs(t, err, syscall.EPERM)
}
