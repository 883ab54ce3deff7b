package udp

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Expect tells that packets are likely to come within d: the next call of ReadBatch
// that finds none looks again and again for so long before it waits, and between
// two looks lets other threads have the processor. That is worth it when d is
// about what it takes to go to sleep and to be woken, a few tens of microseconds.
// It holds for one call. Only the reader may call it. On systems other than Linux
// it does nothing.
func (c *Conn) Expect(d time.Duration) { c.expects = d }

// Waited reports whether the last call of ReadBatch has waited, so that other
// goroutines had its processor. Only the reader may call it.
func (c *Conn) Waited() bool { return c.waited }

// lookOut looks for packets until an instant, or a wake.
func (c *Conn) lookOut(pkts []Packet, end timed.Instant) (n int, err error) {
	for n == 0 && err == nil && !c.calls.woken.Load() && c.clock.Now() < end && yieldThread() {
		n, err = c.sock.poll(pkts)
	}
	return n, err
}
