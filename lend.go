package failaware

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// hastener is a transport whose wait for packets can be made shorter while it
// lasts: see [udp.Conn.Hasten].
type hastener interface {
	Hasten(deadline timed.Instant)
}

// aloneAfter is how long after messages were last taken from callers one of them
// may take a turn by itself. Messages that come faster are left for the loop, which
// takes many in a turn.
const aloneAfter = 200 * time.Microsecond

// lend lets the caller of Broadcast, whose message waits for the loop, take the
// turn that sends it, while the loop waits for packets: to wake the loop up takes
// longer than such a turn, and the processor that runs the caller is awake already. It reports whether
// the message was taken; if not, the loop is to be woken.
//
// A turn with something unusual about it is the loop's: when a timer is due, since
// packets that are there must be handled before it; and when the clock is not to
// be trusted.
func (d *driver) lend() bool {
	h, ok := d.n.conn.(hastener)
	if !ok || !d.mu.TryLock() {
		return false // the loop is in a turn, or another caller, or it has ended
	}
	defer d.mu.Unlock()
	r := d.n.clock.Read()
	if d.stack == nil || d.leaving || d.n.closing.Load() || r.Epoch != d.epoch || r.Now < d.now || r.Now >= d.until ||
		r.Now.Sub(d.cast.took) < aloneAfter {
		return false
	}
	d.count.lent++
	d.turn(nil, r)
	switch next := d.deadline(); {
	case d.ended:
		d.n.conn.Wake()
	case next < d.until:
		d.until = next
		h.Hasten(next)
	}
	return true
}
