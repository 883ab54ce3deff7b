//go:build unix

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/sched"
)

// lockExec is the name of the hidden command that becomes the command of
// `failaware lock`.
const lockExec = "lock-exec"

// toGuard is the file descriptor at which lock-exec writes to the guard.
const toGuard = 3

// start starts this program as lock-exec, which joins the control group, tells the guard
// its process group, and then becomes the command. So the guard knows the group before the
// command runs, even if lock is stopped or killed right now.
func (g *guard) start(cmd *exec.Cmd, group cgroup) error {
	path, err := self()
	if err != nil {
		return err
	}
	cmd.Path, cmd.Args = path, append([]string{os.Args[0], lockExec, cli.Version(), string(group), cmd.Path}, cmd.Args...)
	cmd.ExtraFiles = []*os.File{g.to}
	return cmd.Start()
}

func newLockExecCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: lockExec, Hidden: true, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := sameBuild(args, 4); err != nil {
				return err
			}
			// The signal at the death of lock belongs to the thread that executes.
			runtime.LockOSThread()
			_ = sched.Usual(0) // lock has asked for itself and its guard
			if err := dieWithParent(); err != nil {
				return err
			}
			cgroup(args[1]).join()
			args = args[2:]
			group := guardMessage{messageGroup, uint64(os.Getpid())}
			if _, err := syscall.Write(toGuard, group.bytes()); err != nil {
				return err
			}
			syscall.CloseOnExec(toGuard)
			err := syscall.Exec(args[0], args[1:], os.Environ())
			return cli.Wrong("lock: %s: %w", args[0], err)
		},
	}
	cmd.Flags().SetInterspersed(false) // the flags after the path are the command's
	return cmd
}

// writeNow writes b unless that would have to wait. Starting a process with f has made f
// wait.
func writeNow(f *os.File, b []byte) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) {
		if syscall.SetNonblock(int(fd), true) == nil {
			_, _ = syscall.Write(int(fd), b)
		}
	})
}
