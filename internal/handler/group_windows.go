package handler

import (
	"context"
	"os/exec"
	"syscall"
)

// shell is the program that runs commands.
const shell = "cmd"

// shellCommand returns a command of the shell. Only its own process is killed when it takes too long. The
// shell reads its command line by rules of its own: with /S it takes off the outer quotation marks,
// and leaves those within alone, which package exec would escape.
func shellCommand(ctx context.Context, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, shell)
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /S /C "` + text + `"`}
	return cmd
}
