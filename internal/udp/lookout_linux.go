package udp

import "golang.org/x/sys/unix"

// yieldThread lets another thread have the processor, if one wants it. The runtime
// is not told (see receive). It reports whether sockets can be looked at without
// waiting.
func yieldThread() bool {
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	return true
}
