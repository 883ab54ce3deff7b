package failaware

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
)

// aloneAfter is how long after messages were last taken from callers one of them
// may take a turn by itself. Messages that come faster are left for the loop, which
// takes many in a turn.
const aloneAfter = 200 * time.Microsecond

// lend lets the caller of Broadcast, whose message waits for the loop, take the
// turn that sends it, while the loop waits for packets: to wake the loop up takes
// longer than such a turn, and the processor that runs the caller is awake already.
// It reports whether the message was taken; if not, the loop is to be woken.
//
// A caller that computes a lot may be preempted in the middle of the turn, which
// then holds up the loop, as long as goroutines that compute hold up others:
// Config.RaiseProcs is against that. What answers say stays true meanwhile, since
// they read the clock, and packets are stamped when they leave.
func (d *driver) lend() bool {
	if d.cast.look == nil || !d.mu.TryLock() {
		return false // the loop is in a turn, or another caller, or it has ended
	}
	r := d.n.clock.Read()
	if !d.mayLend(r) {
		d.mu.Unlock()
		return false
	}
	returned := false
	defer func() {
		if !returned {
			crash(recover())
		}
		d.mu.Unlock()
	}()
	d.count.lent++
	d.turn(nil, r)
	d.cast.woke = false // the loop holds up nobody
	switch next := d.deadline(); {
	case d.ended:
		d.n.conn.Wake()
	case next < d.until:
		d.until = next
		d.cast.look.Hasten(next)
	}
	returned = true
	return true
}

// mayLend reports whether a turn at a reading of the clock sends messages and does nothing else
// that may take long. What the loop has been woken for anyway is left to it. A turn
// in which a timer is due is the loop's too, since packets that are there must be
// handled before it, and so is one with a clock that is not to be trusted.
func (d *driver) mayLend(r hwclock.Reading) bool {
	n := d.n
	switch {
	case d.ended, d.stack == nil, d.leaving, n.closing.Load():
		return false
	case n.desk.some.Load(), n.peers.List() != d.routes.listed:
		return false
	case r.Epoch != d.epoch, r.Now < d.now, r.Now >= d.until:
		return false
	}
	return r.Now.Sub(d.cast.took) >= aloneAfter
}

// crash ends the process, as a panic in the loop does, although the caller in whose
// goroutine it happened may recover from panics: half a turn must not be gone on
// with.
func crash(cause any) {
	text := fmt.Sprintf("failaware: in a turn of the node: %v\n\n%s", cause, debug.Stack())
	go func() { panic(text) }()
	select {}
}
