package udp

import (
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/timed"
)

// longestWait bounds one wait. On some systems timers stop while the machine is
// suspended, but the hardware clock does not. Without the bound they would be late by
// the time asleep.
const longestWait = time.Second

// signals carries calls of other goroutines to a waiting reader.
type signals struct {
	woken    atomic.Bool  // a wake that has not been reported yet
	hastened atomic.Int64 // an earlier deadline, or timed.Never
}

// deadline returns the earlier deadline, or Never.
func (c *signals) deadline() timed.Instant { return timed.Instant(c.hastened.Load()) }

func (c *signals) hasten(deadline timed.Instant) { c.hastened.Store(int64(deadline)) }

// wait waits once for packets, until about the deadline at most. It may return without
// packets at any time. The caller then checks the clock and wakes again.
//
// No wake is lost: the reader announces that it waits, and then checks for a wake. The
// waker stores the wake, and then checks for a waiting reader, whose wait it ends.
// Either the reader sees the wake, or the waker sees the reader. A slow waker may end a
// later wait than intended, which costs one turn of the caller's loop. An earlier
// deadline reaches the reader in the same way.
func (c *Conn) wait(pkts []Packet, now, deadline timed.Instant) (n int, err error) {
	if deadline != timed.Never {
		deadline = timed.Earlier(deadline, now.Add(longestWait))
	}
	c.waiting.Store(true)
	if !c.signals.woken.Load() {
		n, err = c.sock.wait(pkts, now, deadline, &c.signals)
	}
	c.waiting.Store(false)
	return n, err
}

// Hasten gives the call of ReadBatch under way, or else the next one, an earlier
// deadline. It must be earlier than the caller's own deadline; otherwise the call may
// return after both. One call returns at that instant at the latest. A slow Hasten may
// shorten a later call than intended. It does not wake the reader earlier, and never
// blocks. Any goroutine may call it, but not two at once, and not during or after
// Close.
func (c *Conn) Hasten(deadline timed.Instant) {
	c.signals.hasten(deadline)
	if c.waiting.Load() {
		now := c.clock.Now()
		c.sock.hasten(now, timed.Earlier(deadline, now.Add(longestWait)))
	}
}
