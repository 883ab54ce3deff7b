package udp

import (
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// unsentFor is how long a failure to send to an address is remembered. Whoever sends to an
	// address in vain sends again and again.
	unsentFor = 10 * time.Second
	// maxUnsent bounds the addresses that are remembered.
	maxUnsent = 512
)

// unreachable are the errors that say why no packet leaves for an address, whatever its length
// and however much is sent. They belong to the packet with which they come.
var unreachable = []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.EHOSTUNREACH, syscall.EHOSTDOWN,
	syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT}

// unsent remembers the addresses to which packets could not be sent lately. It is safe for
// concurrent use.
type unsent struct {
	mu   sync.Mutex
	last map[netip.AddrPort]failure
}

type failure struct {
	errno syscall.Errno
	at    time.Time
}

// note notes that a packet to an address was refused by the system.
func (u *unsent) note(to netip.AddrPort, errno syscall.Errno, now time.Time) {
	if !slices.Contains(unreachable, errno) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.last[to]; !known && len(u.last) >= maxUnsent {
		for a, f := range u.last {
			if now.Sub(f.at) > unsentFor {
				delete(u.last, a)
			}
		}
		if len(u.last) >= maxUnsent {
			return
		}
	}
	if u.last == nil {
		u.last = map[netip.AddrPort]failure{}
	}
	u.last[to] = failure{errno, now}
}

// at returns why packets to an address could not be sent lately, or nil.
func (u *unsent) at(to netip.AddrPort, now time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if f, known := u.last[to]; known && now.Sub(f.at) <= unsentFor {
		return f.errno
	}
	return nil
}

// Unsent returns why packets to an address could not be sent within the last ten seconds,
// whatever their length, or nil. The error is a [syscall.Errno].
func (c *Conn) Unsent(to netip.AddrPort) error { return c.count.unsent.at(to, time.Now()) }
