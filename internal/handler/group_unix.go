//go:build unix

package handler

import (
	"os/exec"
	"syscall"
)

// shell runs a command.
var shell = []string{"sh", "-c"}

// ownGroup puts a command into a process group of its own, all of which is killed when
// the command takes too long.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithNode(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
