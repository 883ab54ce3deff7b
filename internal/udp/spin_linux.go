package udp

import "golang.org/x/sys/unix"

// yieldThread yields the processor to another thread, if one wants it. The runtime is
// not informed (see receive). It reports whether sockets can be polled without waiting.
func yieldThread() bool {
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	return true
}
