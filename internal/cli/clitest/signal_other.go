//go:build !unix

package clitest

import "os"

// signals are the signals that scripts can send, by name.
var signals = map[string]os.Signal{"KILL": os.Kill}
