//go:build !linux

package udp

// yieldThread reports whether sockets can be looked at without waiting.
func yieldThread() bool { return false }
