package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// Timer is a timer of a process. The zero Timer has run out.
type Timer struct {
	w  *World
	i  int32
	id uint64
}

// Stop stops the timer. It reports whether the timer was still running.
func (t Timer) Stop() bool {
	if t.w == nil {
		return false
	}
	t.w.checkMutable("Timer.Stop")
	if t.w.app.timers[t.i].id != t.id {
		return false
	}
	t.w.app.release(t.i)
	return true
}

// After calls do in a turn of the process, d later on the node's hardware clock or up to
// a scheduling delay after that. A stopped process calls it when it runs again, and a
// crashed one never. A d below a microsecond counts as one. If the process is down, After
// does nothing and returns the zero Timer.
func (n *Node) After(d time.Duration, do func()) Timer {
	n.w.checkMutable("After")
	if !n.proc.Up {
		return Timer{}
	}
	return n.after(d, do)
}

type appTimer struct {
	id   uint64 // 0: free
	n    *Node
	due  timed.Instant
	when int64 // true time of the event that fires it; its other events are void
	do   func()
}

func (n *Node) after(d time.Duration, do func()) Timer {
	a := &n.w.app
	var i int32
	if k := len(a.free); k > 0 {
		i, a.free = a.free[k-1], a.free[:k-1]
	} else if len(a.timers) >= MaxTimers {
		panic(fmt.Sprintf("sim: more than %d timers", MaxTimers))
	} else {
		a.timers, i = append(a.timers, appTimer{}), int32(len(a.timers))
	}
	a.lastID++
	a.timers[i] = appTimer{id: a.lastID, n: n, due: n.Instant().Add(max(clampDuration(d), minTimer)), do: do}
	n.w.armTimer(i)
	return Timer{n.w, i, a.lastID}
}

// armTimer schedules the event that fires a timer.
func (w *World) armTimer(i int32) {
	t := &w.app.timers[i]
	at := max(w.now, t.n.stalledUntil, t.n.proc.Clock.When(t.due))
	if at < hardware.Forever { // else the clock stands still, and its next bend arms the timer again
		at += w.lateness(t.n)
		w.schedule(at, eventTimer, t.n.proc.Index, i)
	}
	t.when = at
}

// lateness draws how late an application acts. It has its own stream: an application that
// only listens does not change the run.
func (w *World) lateness(n *Node) int64 {
	return w.apps.Below(int64(w.opt.Timing.SchedulingDelay)/20+1) + w.apps.Below(n.slow+1)
}

// fire queues the call of a timer, if it is due.
func (w *World) fire(e event) {
	t := &w.app.timers[e.arg]
	if t.id == 0 || t.n.proc.Index != e.node() || t.when != e.at {
		return // it was stopped, or armed again
	}
	n := t.n
	if n.stalledUntil > w.now {
		w.armTimer(e.arg)
		return
	}
	if n.proc.Upset && w.opt.Bare {
		w.reincarnate(n)
	}
	if n.proc.Upset { // the platform runs first, and notices that the machine slept
		t.when = w.now + int64(minTimer) + w.lateness(n)
		w.schedule(t.when, eventTimer, n.proc.Index, e.arg)
		return
	}
	if n.tick(w.now) < t.due { // the clock was bent
		w.armTimer(e.arg)
		return
	}
	w.app.calls = append(w.app.calls, call{n: n, life: n.lives, kind: callTimer, do: t.do})
	w.app.release(e.arg)
}

func (a *app) release(i int32) {
	a.timers[i] = appTimer{}
	a.free = append(a.free, i)
}

// stopTimers stops the timers of a process that ends.
func (a *app) stopTimers(n *Node) {
	for i := range a.timers {
		if a.timers[i].n == n {
			a.release(int32(i))
		}
	}
}

// rearmTimers arms the timers of a node again, after a change of its clock or the end of
// its stall.
func (w *World) rearmTimers(n *Node) {
	for i := range w.app.timers {
		if w.app.timers[i].n == n {
			w.armTimer(int32(i))
		}
	}
}
