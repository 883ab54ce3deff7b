package udp

import (
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/timed"
)

// longestWait bounds one wait. Timers stop while the machine is suspended on
// some systems, as the hardware clock does not, and would be late by the time
// asleep otherwise.
const longestWait = time.Second

// calls are what other goroutines call to a reader that waits.
type calls struct {
	woken    atomic.Bool  // a wake that has not been reported yet
	hastened atomic.Int64 // an earlier deadline, or timed.Never
}

// deadline returns the earlier deadline, or Never.
func (c *calls) deadline() timed.Instant { return timed.Instant(c.hastened.Load()) }

func (c *calls) hasten(deadline timed.Instant) { c.hastened.Store(int64(deadline)) }

// wait waits once for packets, until about the deadline at most. It may return
// without packets at any time; the caller looks at the clock again, and for
// wakes.
//
// A wake cannot be lost: the reader announces that it waits, and then looks for
// a wake; the waker leaves the wake, and then looks for a waiting reader, whose
// wait it ends. Either the reader sees the wake, or the waker sees the reader. A
// waker that is slow may end a later wait than it meant, which costs one turn of
// the caller's loop. An earlier deadline comes to the reader in the same way.
func (c *Conn) wait(pkts []Packet, now, deadline timed.Instant) (n int, err error) {
	if deadline != timed.Never {
		deadline = timed.Earlier(deadline, now.Add(longestWait))
	}
	c.waiting.Store(true)
	if !c.calls.woken.Load() {
		n, err = c.sock.wait(pkts, now, deadline, &c.calls)
	}
	c.waiting.Store(false)
	return n, err
}

// Hasten gives the call of ReadBatch under way, or else the next one, an earlier
// deadline than its caller did: the given one must be earlier, or the call may
// return after both. One call returns at that instant at the latest; a
// slow Hasten may shorten a later call than it meant. It does not wake the reader
// before, and never blocks. Any goroutine may call it, but not two at once, and not
// while Close is called or after it.
func (c *Conn) Hasten(deadline timed.Instant) {
	c.calls.hasten(deadline)
	if c.waiting.Load() {
		now := c.clock.Now()
		c.sock.hasten(now, timed.Earlier(deadline, now.Add(longestWait)))
	}
}
