package udp

import (
	"math"
	"time"

	"github.com/failaware/failaware/timed"
)

// unarmed as the expiry of the read deadline means that it must be set before
// the next wait.
const unarmed timed.Instant = math.MinInt64

// longestWait bounds one wait on the runtime's timers. They stop while the
// machine is suspended, as the hardware clock does not, and would be late by the
// time asleep otherwise.
const longestWait = time.Second

// wait waits once for packets, until about the deadline at most. It may return
// without packets at any time; the caller looks at the clock again.
//
// A wake cannot be lost: the reader announces that it waits, sets the read
// deadline, and then looks for a wake; the waker leaves the wake, and then looks
// for a waiting reader, whose read deadline it moves into the past. Either
// the reader sees the wake, or the waker comes after the reader's setting of the
// deadline. A waker that is slow to move the deadline may end a later wait than
// it meant, which costs one turn of the caller's loop.
func (c *Conn) wait(pkts []Packet, now, deadline timed.Instant) (n int, err error) {
	c.waiting.Store(true)
	if err = c.arm(now, deadline); err == nil && !c.woken.Load() {
		n, err = c.sock.wait(pkts)
	}
	c.waiting.Store(false)
	if err != nil && isTimeout(err) {
		c.armed = unarmed
		return n, nil
	}
	return n, err
}

// arm sets the read deadline, unless it will expire early enough anyway. Setting
// it costs more than reading a packet, and a driver's deadlines mostly move into
// the future a little at a time: a deadline from an earlier call then ends one
// wait too early, and only after that a new one is set.
func (c *Conn) arm(now, deadline timed.Instant) error {
	if deadline != timed.Never {
		deadline = timed.Earlier(deadline, now.Add(longestWait))
	}
	if c.armed > now && c.armed <= deadline {
		return nil
	}
	var at time.Time // zero: no deadline
	if deadline != timed.Never {
		at = time.Now().Add(deadline.Sub(now))
	}
	c.armed = deadline
	return c.sock.setReadDeadline(at)
}
