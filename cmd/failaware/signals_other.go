//go:build !unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSignals returns the signals that a node acts on. On Windows, SIGTERM stands for the end of the
// console, of the user's session, or of the system, which leaves some seconds.
func watchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

func isReload(os.Signal) bool { return false }

func reloadingState() string { return "RELOADING=1" }
