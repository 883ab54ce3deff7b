package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// node is one process with its hardware clock.
type node struct {
	index        int
	id           timed.NodeID
	boot         timed.BootID
	clock        *clock // of the machine; a reboot gives it a new one
	last         timed.Instant
	st           *stack.Stack
	up           bool
	dead         bool // stays down until the still period is over
	stalledUntil int64
	slow         int64 // largest extra scheduling delay
	counter      uint64
	wakeAt       int64
	wakeTicket   int32
	armedFor     timed.Instant // the deadline that wakeAt serves
	restarted    int64         // true time of the last start
}

func (w *world) newNode(i int) *node {
	n := &node{index: i, id: timed.NodeID(i + 1), wakeAt: forever}
	n.clock = w.newClock()
	w.start(n)
	return n
}

// newClock returns a hardware clock that shows anything.
func (w *world) newClock() *clock {
	return &clock{base: w.now, at: timed.Instant(origin + w.clocks.below(int64(time.Hour))), rate: w.drawRate()}
}

// drawRate draws a clock rate within ρ, biased to the ends.
func (w *world) drawRate() int64 {
	lo, hi := slowest(w.opt.Timing.MaxDrift), fastest(w.opt.Timing.MaxDrift)
	switch w.clocks.below(4) {
	case 0:
		return lo
	case 1:
		return hi
	}
	return w.clocks.between(lo, hi)
}

// start begins a new incarnation.
func (w *world) start(n *node) {
	n.boot = timed.BootID(w.boots.uint64() | 1)
	n.up, n.stalledUntil, n.counter, n.restarted = true, 0, 0, w.now
	n.wakeAt, n.armedFor = forever, timed.Never
	now := n.tick(w.now)
	var peers timed.Set
	for i := range w.opt.Nodes {
		if i != n.index {
			peers.Add(timed.NodeID(i + 1))
		}
	}
	wall := clocksync.Time(w.now + w.clocks.between(-int64(20*time.Millisecond), int64(20*time.Millisecond)))
	n.st = stack.New(stack.Config{
		Self:  timed.Incarnation{Node: n.id, Boot: n.boot},
		Group: 1, Timing: w.opt.Timing, Mode: w.opt.Mode, RankBy: w.opt.RankBy,
		MaxDeviation: clocksync.DefaultMaxDeviation, MaxSlew: clocksync.DefaultMaxSlew,
		StepThreshold: clocksync.DefaultStepThreshold,
	}, peers, now, wall)
	n.st.Lend = w.lend
	w.schedule(w.now+n.jitter(w), wake, n.index, n.wakeTicket+1)
	n.wakeTicket++
	n.wakeAt = w.now
}

// tick reads the hardware clock; readings of one node never repeat.
func (n *node) tick(t int64) timed.Instant {
	h := n.clock.show(t)
	if h <= n.last {
		h = n.last // readings may repeat within a nanosecond, as they do in life
	}
	n.last = h
	return h
}

// jitter draws how late the process acts.
func (n *node) jitter(w *world) int64 {
	sigma := int64(w.opt.Timing.SchedulingDelay)
	return w.proc.below(sigma/20+1) + w.proc.below(n.slow+1)
}

func (w *world) crash(n *node) {
	if !n.up {
		return
	}
	w.check.live.account(w.now)
	n.up = false
	w.count.Crashes++
	w.check.crashed(n)
}

func (w *world) restart(n *node) {
	if n.up {
		return
	}
	w.check.live.account(w.now)
	w.count.Restarts++
	if w.clocks.chance(0.3) { // the machine rebooted: its clock starts anew
		n.clock, n.last = w.newClock(), 0
	}
	w.start(n)
	w.check.started(n)
}
