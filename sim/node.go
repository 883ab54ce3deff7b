package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// Node is one process of a world, with its hardware clock and the application
// that runs on it.
type Node struct {
	w            *World
	index        int
	id           timed.NodeID
	boot         timed.BootID
	clock        *hardware.Clock // of the machine; a reboot gives it a new one
	last         timed.Instant
	st           *stack.Stack
	up           bool
	staysDown    bool // until the stable period is over
	upset        bool // the clock gave evidence against itself: a new incarnation is due
	clockBroken  bool // the clock has left ρ
	stalledUntil int64
	slow         int64   // largest extra scheduling delay
	sendErrors   float64 // probability that what a turn sends is lost
	counter      uint64
	wakeAt       int64
	wakeTicket   int32
	armedFor     timed.Instant // the deadline that wakeAt serves
	restarted    int64         // true time of the last start

	handlers Handlers
	told     told
	lives    uint64 // counts the starts and ends of processes
	starts   uint64 // of the machine's process, where that is counted
	state    stateDir

	// What the broadcast has delivered and the application has not taken.
	owedBytes, owedCount int
	owedViews            int  // begun since it took anything
	slowConsumer         bool // the application takes nothing
	owed, borrowed       []borrowed
	slabs                [2]slab // for own messages, by class
}

// addNode adds a process with an id to the world. Its index is that of the id,
// or above all those for a rival.
func (w *World) addNode(id timed.NodeID, index int) *Node {
	n := w.addProcess(id, index)
	n.clock = w.newClock()
	w.start(n)
	if w.cast != nil {
		w.voiced(n)
	}
	return n
}

// addProcess makes room for a process that does not run yet.
func (w *World) addProcess(id timed.NodeID, index int) *Node {
	n := &Node{w: w, index: index, id: id, wakeAt: hardware.Forever}
	w.nodes = append(w.nodes, n)
	for i := range w.links {
		w.links[i] = append(w.links[i], link{})
	}
	w.links = append(w.links, make([]link, len(w.nodes)))
	w.check.grow(len(w.nodes))
	return n
}

// place returns the index as a member of a set of processes.
func (n *Node) place() timed.NodeID { return timed.NodeID(n.index + 1) }

// newClock returns a hardware clock that shows anything.
func (w *World) newClock() *hardware.Clock {
	at := timed.Instant(origin + w.clocks.Below(int64(time.Hour)))
	return hardware.New(w.now, at, hardware.DrawRate(w.clocks, w.opt.Timing.MaxDrift))
}

// start begins a new incarnation.
func (w *World) start(n *Node) {
	w.changes++
	n.boot = timed.BootID(w.boots.Uint64() | 1)
	n.up, n.stalledUntil, n.counter, n.restarted = true, 0, 0, w.now
	n.upset, n.last = false, 0 // what was read before belongs to the incarnation before
	n.wakeAt, n.armedFor = hardware.Forever, timed.Never
	now := n.tick(w.now)
	var peers timed.Set
	for i := range w.opt.Nodes {
		if id := timed.NodeID(i + 1); id != n.id {
			peers.Add(id)
		}
	}
	wall := clocksync.Time(w.now + int64(w.wallAhead()) + w.clocks.Between(-int64(20*time.Millisecond), int64(20*time.Millisecond)))
	cfg := stack.Config{
		Self:  timed.Incarnation{Node: n.id, Boot: n.boot},
		Group: 1, Timing: w.opt.Timing, Mode: w.opt.Mode, RankBy: w.opt.RankBy,
		Collation:    w.opt.Collation,
		MaxDeviation: clocksync.DefaultMaxDeviation, MaxSlew: clocksync.DefaultMaxSlew,
		StepThreshold: clocksync.DefaultStepThreshold,
	}
	cfg.MaxUTCError, cfg.MinReferences = clocksync.DefaultMaxUTCError, clocksync.DefaultMinReferences
	if w.cast != nil {
		w.cast.configure(&cfg)
	}
	if w.external != nil {
		cfg.MinReferences = w.external.MinReferences
	}
	if w.global != nil {
		w.global.configure(n, &cfg)
	}
	if w.change != nil {
		w.change.configure(n, &cfg)
	}
	if w.opt.Bare {
		return
	}
	n.st = stack.New(cfg, peers, now, wall)
	if w.cast != nil {
		w.cast.started(n)
	}
	n.st.NewPacket = w.lend
	w.schedule(w.now+n.jitter(w), wake, n.index, n.wakeTicket+1)
	n.wakeTicket++
	n.wakeAt = w.now
}

// wallAhead returns by how much wall clocks are ahead of UTC when processes start.
func (w *World) wallAhead() time.Duration {
	if w.external == nil {
		return 0
	}
	return w.external.Ahead
}

// tick reads the hardware clock.
func (n *Node) tick(t int64) timed.Instant {
	h := n.clock.Show(t)
	if h <= n.last {
		h = n.last // readings may repeat within a nanosecond, as they do in life
	}
	n.last = h
	return h
}

// jitter draws how late the process acts.
func (n *Node) jitter(w *World) int64 {
	sigma := int64(w.opt.Timing.SchedulingDelay)
	return w.proc.Below(sigma/20+1) + w.proc.Below(n.slow+1)
}

// crash ends the process.
func (w *World) crash(n *Node) {
	if !n.up {
		return
	}
	w.changes++
	w.check.live.account(w.now)
	n.up = false
	w.count.Crashes++
	w.check.crashed(n)
	w.app.crashed(n)
	if w.record != nil {
		w.recordClaims(n)
	}
}

// restart starts the process again.
func (w *World) restart(n *Node) {
	if n.up || w.change != nil && w.change.banned(n) {
		return
	}
	w.check.live.account(w.now)
	w.count.Restarts++
	w.start(n)
	w.check.started(n)
	w.app.started(n)
	if w.record != nil {
		w.recordClaims(n)
	}
}

// replaceClock gives the machine a clock that starts anew.
func (w *World) replaceClock(n *Node) { n.clock, n.last, n.clockBroken = w.newClock(), 0, false }

// reincarnate does what a process does when its clock tells that the machine
// slept, or gives evidence against itself: it gives up the incarnation with all
// that rests on the clock, and begins another. It always returns true.
func (w *World) reincarnate(n *Node) bool {
	w.check.sometimes(Slept)
	n.upset = false
	if w.opt.Bare {
		w.reincarnateBare(n)
		return true
	}
	if n.clock.Show(w.now) < n.last {
		n.last = n.clock.Show(w.now)
	}
	now, previous := n.tick(w.now), n.boot
	out := n.st.Distrust(now, w.out[:0])
	for i := range out {
		// When votes may be freed was reckoned with the clock that is not
		// trusted any more.
		if p := out[i].Packet; p != nil {
			p.Frames &^= wire.FrameRelease
		}
	}
	w.after(n, now, out)
	w.check.live.account(w.now)
	w.check.crashed(n)
	w.start(n)
	w.check.started(n)
	w.app.restarted(n, previous)
	return true
}

// resign has the node give up the lead, if it has it.
func (w *World) resign(n *Node) bool {
	now := n.tick(w.now)
	if !n.hasStack() || n.upset || n.stalledUntil > w.now || !n.st.Leads(now) {
		return false
	}
	w.after(n, now, w.resigns(n, now))
	return true
}
