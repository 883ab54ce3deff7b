package main

import (
	"os"
	"os/signal"
)

// heeded returns the signals that this process was not started to ignore. nohup starts
// processes that ignore SIGHUP, and shells without job control start those in the background
// to ignore SIGINT. What ignores a signal hands that on to its children; what catches it
// would not. Where all are ignored it returns all: [signal.Notify] takes none for any signal.
func heeded(of ...os.Signal) (all []os.Signal) {
	for _, s := range of {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return of
	}
	return all
}
