package main

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// collect waits until the command ends, and kills the rest of its group before it
// collects the command: until then no other process has its id.
func (c *child) collect() {
	for errors.Is(unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	killGroup(c.cmd.Process)
	_ = c.cmd.Wait() // the state says more
	c.gone = true
}
