//go:build !linux

package udp

// yieldThread reports whether sockets can be polled without waiting.
func yieldThread() bool { return false }
