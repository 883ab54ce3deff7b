//go:build unix

package clitest

import (
	"os"
	"syscall"
)

// signals are the signals that scripts can send, by name.
var signals = map[string]os.Signal{
	"CONT": syscall.SIGCONT,
	"HUP":  syscall.SIGHUP,
	"INT":  syscall.SIGINT,
	"KILL": syscall.SIGKILL,
	"STOP": syscall.SIGSTOP,
	"TERM": syscall.SIGTERM,
}
