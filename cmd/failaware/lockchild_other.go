//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// There are no process groups: children of a command outlive it.

func commandSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

func endsLock(os.Signal) bool { return true }

func hangup(os.Signal) bool { return false }

func numberOf(s os.Signal) int { return int(s.(syscall.Signal)) }

func newProcessGroup() *syscall.SysProcAttr { return nil }

func newSession() *syscall.SysProcAttr { return nil }

// start starts the command, and then tells the guard its id.
func (g *guard) start(cmd *exec.Cmd, _ cgroup) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	writeNow(g.to, guardMessage{messageGroup, uint64(cmd.Process.Pid)}.bytes())
	return nil
}

// writeNow may wait for a reader.
func writeNow(f *os.File, b []byte) { _, _ = f.Write(b) }

func newLockExecCommand() *cobra.Command { return &cobra.Command{Use: "lock-exec", Hidden: true} }

// killGroupOf kills a process. One that is not found has ended.
func killGroupOf(id int) error {
	if p, err := os.FindProcess(id); err == nil {
		return killGroup(p)
	}
	return nil
}

func killGroup(p *os.Process) error {
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Windows sends no signals to a process. A console sends its own to all that are in it.

func terminateGroup(*os.Process) {}

func signalGroup(*os.Process, os.Signal) {}

// killedCode is the exit code of a command that [os.Process.Kill] ended.
const killedCode = 1

func endedBySignal(*os.ProcessState) int { return 0 }
