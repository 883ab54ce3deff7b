package sim

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Node is one process of a world, with its hardware clock and the application
// that runs on it.
type Node struct {
	w            *World
	proc         check.Process
	last         timed.Instant // the last reading of the clock
	staysDown    bool          // until the end of the stable period
	clockBroken  bool          // the clock's rate is beyond ρ
	stalledUntil int64
	socket       []waiting
	quiet        []waiting // quiet packets, which do not wake it
	unsent       []stopped // packets of a turn that is stopped
	merged       []waiting // scratch of withQuiet
	slow         int64     // largest extra scheduling delay
	sendErrors   float64   // probability that all packets of a turn are lost
	counter      uint64
	wakeAt       int64
	wakeTicket   int32
	armedFor     timed.Instant // the deadline that wakeAt serves
	repeats      int           // turns in a row after which it was due at once
	restarted    int64         // true time of the last start
	unlisted     timed.Set     // nodes removed from the peer list
	listed       int64         // true time of the last change of the peer list

	life        life.Machine // of the process
	timing      timed.Timing // of the process
	newest      uint8        // version of the wire format that the process speaks
	weight      uint16
	longestVote time.Duration    // in the machine's state directory
	processes   uint64           // that were started
	sequence    uint64           // of views, there too
	keeps       bool             // see KeepDeliveries
	ordered     []broadcast.Mark // of the deliveries that it keeps from earlier incarnations
	upsetBy     life.Reason
	held        bool // the next incarnation is held back
	holdTicket  int32

	handlers Handlers
	reported reported
	lives    uint64 // counts the starts and ends of processes
	starts   uint64 // of the machine's process, where that is counted
	state    stateDir

	// Deliveries that the application has not taken.
	owedBytes, owedCount int
	owedViews            int  // begun since it took anything
	slowConsumer         bool // the application takes nothing
	owed, borrowed       []borrowed
	slabs                [2]slab // for own messages, by class
}

// addNode adds a process with an id to the world, and starts it. Its index is that of the
// id or, for a rival, a higher one.
func (w *World) addNode(id timed.NodeID, index int) *Node {
	n := w.addProcess(id, index)
	n.proc.Clock = w.newClock()
	w.start(n)
	if w.cast != nil {
		w.startTraffic(n)
	}
	return n
}

// addProcess makes room for a process that does not run yet.
func (w *World) addProcess(id timed.NodeID, index int) *Node {
	n := &Node{w: w, proc: check.Process{Index: index, ID: id}, wakeAt: hardware.Forever, quiet: make([]waiting, 0, 4*w.opt.Nodes)}
	w.nodes = append(w.nodes, n)
	for i := range w.links {
		w.links[i] = append(w.links[i], link{})
	}
	w.links = append(w.links, make([]link, len(w.nodes)))
	w.check.Add(&n.proc)
	return n
}

// newClock returns a hardware clock with a random reading and rate.
func (w *World) newClock() *hardware.Clock {
	at := timed.Instant(origin + w.clocks.Below(int64(time.Hour)))
	return hardware.New(w.now, at, hardware.DrawRate(w.clocks, w.opt.Timing.MaxDrift)).Rounded(w.opt.Resolution)
}

// incarnate begins a new incarnation.
func (w *World) incarnate(n *Node) {
	w.changes++
	w.dropStopped(n)
	n.proc.Boot = timed.BootID(w.boots.Uint64() | 1)
	n.proc.Up, n.held, n.stalledUntil, n.counter, n.restarted = true, false, 0, 0, w.now
	n.proc.Upset, n.last = false, 0 // the last reading is of the previous incarnation
	n.wakeAt, n.armedFor = hardware.Forever, timed.Never
	now := n.tick(w.now)
	n.life.Begin(now)
	var peers timed.Set
	for i := range w.opt.Nodes {
		if id := timed.NodeID(i + 1); id != n.proc.ID && !n.unlisted.Has(id) {
			peers.Add(id)
		}
	}
	wall := w.utc(w.now) + clocksync.Time(int64(w.wallAhead())+w.clocks.Between(-int64(20*time.Millisecond), int64(20*time.Millisecond)))
	cfg := stack.Config{
		Self:  n.proc.Incarnation(),
		Group: 1, Timing: n.timing, Mode: w.opt.Mode, RankBy: w.opt.RankBy,
		Collation:    w.opt.Collation,
		MaxDeviation: clocksync.DefaultMaxDeviation, MaxSlew: n.proc.Slew, Weight: n.weight,
		StepThreshold: clocksync.DefaultStepThreshold,
		Sequence:      n.sequence,
		Newest:        n.newest,
	}
	cfg.MaxUTCError, cfg.MinReferences = clocksync.DefaultMaxUTCError, clocksync.DefaultMinReferences
	if w.cast != nil {
		w.cast.configure(n, &cfg)
	}
	if w.servers != nil {
		cfg.MinReferences = w.servers.MinReferences
	}
	if w.global != nil {
		w.global.configure(n, &cfg)
	}
	if w.admin != nil {
		w.admin.configure(n, &cfg)
	}
	if w.opt.Bare {
		return
	}
	n.proc.Stack = stack.New(cfg, peers, now, wall)
	if w.cast != nil {
		w.cast.started(n)
	}
	n.proc.Stack.NewPacket = w.newPacket
	w.scheduleWake(n, w.now+n.jitter(w))
	n.wakeAt = w.now
}

// wallAhead returns by how much the wall clock of a starting process is ahead of UTC.
func (w *World) wallAhead() (ahead time.Duration) {
	if w.servers != nil {
		ahead = w.servers.Ahead
	}
	if w.cast != nil && w.cast.traffic.WrongWalls > 0 {
		ahead += w.cast.traffic.Wall(w.cast.walls)
	}
	return ahead
}

// tick reads the hardware clock.
func (n *Node) tick(t int64) timed.Instant {
	h := n.proc.Clock.Show(t)
	if h <= n.last {
		if h == n.last && n.w.opt.Resolution > 0 {
			n.w.check.Sometimes(situation.EqualReadings)
		}
		h = n.last // readings within a nanosecond repeat
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
	n.held = false
	if !n.proc.Up {
		return
	}
	w.changes++
	w.check.Live.Account(w.now)
	n.proc.Up = false
	w.emptySocket(n)
	w.dropStopped(n)
	w.count.Crashes++
	w.noteEnd(n)
	w.app.crashed(n)
	w.recordClaims(n)
}

// noteEnd reports the end of a process to the checks.
func (w *World) noteEnd(n *Node) {
	if n.proc.Stack != nil {
		n.sequence = n.proc.Stack.Sequence()
	}
	if w.cast != nil && w.decisionInFlight(n) {
		w.check.Sometimes(situation.CastDeciderGone)
	}
	w.check.Crashed(&n.proc)
}

// decisionInFlight reports whether a packet of the process with a decision is in flight.
func (w *World) decisionInFlight(n *Node) bool {
	for _, e := range w.queue.heap {
		if e.kind() != eventDeliver {
			continue
		}
		if f := w.slots[e.arg]; int(f.from) == n.proc.Index && f.packet.Header.Boot == n.proc.Boot && f.carriesDecision() {
			return true
		}
	}
	return false
}

// restart starts the process again.
func (w *World) restart(n *Node) {
	if n.proc.Up || n.held || w.admin != nil && w.admin.delaysStart(n) {
		return
	}
	w.check.Live.Account(w.now)
	w.count.Restarts++
	if w.start(n); n.held {
		return
	}
	w.check.Started(&n.proc)
	w.app.started(n)
	w.recordClaims(n)
}

// replaceClock gives the machine another hardware clock.
func (w *World) replaceClock(n *Node) { n.proc.Clock, n.last, n.clockBroken = w.newClock(), 0, false }

// handleBlame reincarnates a node that blames its own clock or state, unless that violates a
// promise.
func (w *World) handleBlame(n *Node, why life.Reason) {
	if w.check.Blames(&n.proc) {
		w.reincarnateNow(n, why)
	}
}

// reincarnateNow schedules a turn of a node now, which ends its incarnation.
func (w *World) reincarnateNow(n *Node, why life.Reason) {
	w.distrust(n, why)
	w.scheduleWake(n, w.now)
	n.wakeAt = w.now
}

// resign makes the node give up its lead, if it leads.
func (w *World) resign(n *Node) {
	if !n.hasStack() || n.proc.Upset || n.stalledUntil > w.now || !w.readWaiting(n) {
		return
	}
	now := n.tick(w.now)
	if !n.proc.Stack.Leads(now) {
		return
	}
	w.finishTurn(n, now, w.giveUpLead(n, now))
}
