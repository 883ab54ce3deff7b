package udp

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// longestWait bounds one wait. Timers stop while the machine is suspended on
// some systems, as the hardware clock does not, and would be late by the time
// asleep otherwise.
const longestWait = time.Second

// wait waits once for packets, until about the deadline at most. It may return
// without packets at any time; the caller looks at the clock again, and for
// wakes.
//
// A wake cannot be lost: the reader announces that it waits, and then looks for
// a wake; the waker leaves the wake, and then looks for a waiting reader, whose
// wait it ends. Either the reader sees the wake, or the waker sees the reader. A
// waker that is slow may end a later wait than it meant, which costs one turn of
// the caller's loop.
func (c *Conn) wait(pkts []Packet, now, deadline timed.Instant) (n int, err error) {
	if deadline != timed.Never {
		deadline = timed.Earlier(deadline, now.Add(longestWait))
	}
	c.waiting.Store(true)
	if !c.woken.Load() {
		n, err = c.sock.wait(pkts, now, deadline)
	}
	c.waiting.Store(false)
	return n, err
}
