package udp

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Expect announces that packets are likely to come within d. If the next call of
// ReadBatch finds none, it polls for that time before it waits, and yields the
// processor to other threads between two polls. This is worthwhile if d is about the
// time of going to sleep and being woken, a few tens of microseconds. It applies to one
// call. Only the reader may call it. On systems other than Linux it does nothing.
func (c *Conn) Expect(d time.Duration) { c.expects = d }

// Waited reports whether the last call of ReadBatch has waited, so that other
// goroutines had its processor. Only the reader may call it.
func (c *Conn) Waited() bool { return c.waited }

// spin polls for packets until an instant, or a wake.
func (c *Conn) spin(pkts []Packet, end timed.Instant) (n int, err error) {
	for n == 0 && err == nil && !c.signals.woken.Load() && c.clock.Now() < end && yieldThread() {
		n, err = c.sock.poll(pkts)
	}
	return n, err
}
