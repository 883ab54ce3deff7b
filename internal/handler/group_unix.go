//go:build unix

package handler

import (
	"context"
	"os/exec"
	"syscall"
)

// shell is the program that runs commands.
const shell = "sh"

// shellCommand returns a command of the shell, in a process group of its own, all of which is killed
// when the command takes too long.
func shellCommand(ctx context.Context, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, shell, "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithNode(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
