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
	t.w.may("Timer.Stop")
	if t.w.app.timers[t.i].id != t.id {
		return false
	}
	t.w.app.release(t.i)
	return true
}

// After calls do in the process's turn after d on the node's hardware clock, or
// somewhat later, as processes are: later still when the process is stopped at
// that time, and never when it crashes before. A d below a microsecond counts as
// one. If the process is down, nothing happens and the timer is zero.
func (n *Node) After(d time.Duration, do func()) Timer {
	n.w.may("After")
	if !n.proc.Up {
		return Timer{}
	}
	return n.after(d, do)
}

type appTimer struct {
	id   uint64 // 0: free
	n    *Node
	due  timed.Instant
	when int64 // true time of the event that is to fire it; other events are void
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
	a.timers[i] = appTimer{id: a.lastID, n: n, due: n.Instant().Add(max(mayLast(d), minTimer)), do: do}
	n.w.armTimer(i)
	return Timer{n.w, i, a.lastID}
}

// armTimer schedules the event that fires a timer.
func (w *World) armTimer(i int32) {
	t := &w.app.timers[i]
	at := max(w.now, t.n.stalledUntil, t.n.proc.Clock.When(t.due))
	if at < hardware.Forever { // else the clock stands still, and its next bend arms the timer anew
		at += w.lateness(t.n)
		w.schedule(at, timer, t.n.proc.Index, i)
	}
	t.when = at
}

// lateness draws how late an application acts: from its own stream, so that one
// that only listens leaves the run as it is without it.
func (w *World) lateness(n *Node) int64 {
	return w.apps.Below(int64(w.opt.Timing.SchedulingDelay)/20+1) + w.apps.Below(n.slow+1)
}

// fire lets a timer run, if it is due.
func (w *World) fire(e event) {
	t := &w.app.timers[e.arg]
	if t.id == 0 || t.n.proc.Index != e.node() || t.when != e.at {
		return // it was stopped, or armed anew
	}
	n := t.n
	if n.stalledUntil > w.now {
		w.armTimer(e.arg)
		return
	}
	if n.proc.Upset && w.opt.Bare {
		w.reincarnate(n)
	}
	if n.proc.Upset { // the platform notices first that the machine slept, when it gets to run
		t.when = w.now + int64(minTimer) + w.lateness(n)
		w.schedule(t.when, timer, n.proc.Index, e.arg)
		return
	}
	if n.tick(w.now) < t.due { // the clock was bent
		w.armTimer(e.arg)
		return
	}
	w.app.news = append(w.app.news, news{n: n, life: n.lives, kind: newsTimer, do: t.do})
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

// rearmTimers takes a change of a node's clock, or the end of its stall.
func (w *World) rearmTimers(n *Node) {
	for i := range w.app.timers {
		if w.app.timers[i].n == n {
			w.armTimer(int32(i))
		}
	}
}
