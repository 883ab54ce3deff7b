//go:build !unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// There are no process groups: children of a command outlive it.

func commandSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt)
	return c, func() { signal.Stop(c) }
}

func ends(os.Signal) bool { return true }

func numberOf(os.Signal) int { return 2 }

func groupOfItsOwn() *syscall.SysProcAttr { return nil }

func sessionOfItsOwn() *syscall.SysProcAttr { return nil }

func killGroupOf(id int) {
	if p, err := os.FindProcess(id); err == nil {
		_ = p.Kill()
	}
}

func killGroup(p *os.Process)                { _ = p.Kill() }
func terminateGroup(p *os.Process)           { _ = p.Signal(os.Interrupt) }
func signalGroup(p *os.Process, s os.Signal) { _ = p.Signal(s) }

func endedBySignal(*os.ProcessState) int { return 0 }
