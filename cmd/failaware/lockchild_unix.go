//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// passedOn are the signals that a command under a lock gets. Among them are those that
// stop a terminal's job: they must stop the command, and never the process that has to
// kill it.
var passedOn = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
	syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT}

// commandSignals returns a channel of those that lock heeds, and a function that stops it.
func commandSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 16)
	signal.Notify(c, heeded(passedOn...)...)
	return c, func() { signal.Stop(c) }
}

// endsLock reports whether a signal ends a lock that has no command yet.
func endsLock(s os.Signal) bool {
	return s == syscall.SIGHUP || s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTERM
}

func hangup(s os.Signal) bool { return s == syscall.SIGHUP }

func numberOf(s os.Signal) int { return int(s.(syscall.Signal)) }

func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// killGroupOf kills the processes of a group. The error is not nil if the system lets this
// user kill none of them, because all have changed their user.
func killGroupOf(id int) error {
	if err := syscall.Kill(-id, syscall.SIGKILL); err != syscall.ESRCH {
		return err
	}
	return nil // all have ended
}

func killGroup(p *os.Process) error { return killGroupOf(p.Pid) }
func terminateGroup(p *os.Process)  { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

func signalGroup(p *os.Process, s os.Signal) { _ = syscall.Kill(-p.Pid, s.(syscall.Signal)) }

// killedCode is the exit code of a command that SIGKILL ended.
const killedCode = 128 + 9

// endedBySignal returns the signal that ended a process, or 0.
func endedBySignal(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return int(w.Signal())
	}
	return 0
}
