package loop

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
)

// aloneAfter is how long after messages were last taken from callers one of them may
// take a turn by itself. Messages that come faster are left to the loop, which takes
// many in a turn.
const aloneAfter = 200 * time.Microsecond

// tryTurn lets a caller with a queued message take the turn that sends it, while the
// loop waits for packets. Waking the loop takes longer than such a turn, and the
// processor that runs the caller is awake already. It reports whether the turn was
// taken; if not, the loop must be woken.
//
// The runtime may preempt the caller in the middle of the turn. That delays the loop
// as long as any computing goroutine delays others, which raising GOMAXPROCS mends.
// Answers stay true meanwhile, since they read the clock, and packets are stamped
// when they leave.
func (d *driver) tryTurn() bool {
	if d.msgs.wait == nil || !d.mu.TryLock() {
		return false // the loop or another caller takes a turn, or the loop has ended
	}
	r := d.l.cfg.Clock.Read()
	if !d.mayTryTurn(r) {
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
	d.count.byCallers++
	d.turn(nil, r)
	d.msgs.woke = false // the loop keeps no processor from the application
	switch next := d.deadline(); {
	case d.life.Over():
		d.l.Wake()
	case next < d.clock.until:
		d.clock.until = next
		d.msgs.wait.Hasten(next)
	}
	returned = true
	return true
}

// mayTryTurn reports whether a turn at a reading of the clock sends messages and does
// nothing else that may take long. Everything that has woken the loop is left to it.
// So is a turn with a timer that is due, since waiting packets must be handled before
// it, and one with a clock that cannot be trusted.
func (d *driver) mayTryTurn(r hwclock.Reading) bool {
	l := d.l
	switch {
	case d.life.Over(), d.stack == nil, d.life.Leaving(), l.closing.Load():
		return false
	case l.commands.Pending(), l.cfg.Peers.List() != d.routes.list:
		return false
	case r.Era != d.clock.era, r.Now < d.clock.now, r.Now >= d.clock.until:
		return false
	}
	return r.Now.Sub(d.msgs.took) >= aloneAfter
}

// crash ends the process, as a panic in the loop does, although the caller in whose
// goroutine it happened may recover from panics: never continue after a partial turn.
func crash(cause any) {
	text := fmt.Sprintf("failaware: in a turn of the node: %v\n\n%s", cause, debug.Stack())
	go func() { panic(text) }()
	select {}
}
