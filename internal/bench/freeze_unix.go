//go:build unix

package bench

import (
	"os"
	"syscall"
)

// freeze stops a process like SIGSTOP, and thaw continues it.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
