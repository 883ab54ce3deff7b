//go:build unix

package bench

import (
	"os"
	"syscall"
)

// freeze stops a process as SIGSTOP does, and thaw has it go on.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
