//go:build !unix

package main

import (
	"os"
	"os/signal"
)

// watchSignals returns the signals that a node acts on.
func watchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, os.Interrupt)
	return c, func() { signal.Stop(c) }
}

func isReload(os.Signal) bool { return false }

func reloadingState() string { return "RELOADING=1" }
