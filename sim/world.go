package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// World is a simulated world: true time, nodes with drifting clocks, links, and
// the faults that a seed draws or that a test scripts. It is for one goroutine:
// applications, invariants and the test that drives it all run in that one.
//
// [New] makes one; [World.Run] and [World.RunUntil] let time pass.
type World struct {
	opt    Options
	bounds timed.Bounds
	seed   uint64

	now   int64 // true time, in nanoseconds
	seq   uint64
	queue queue
	nodes []*Node
	links [][]link

	net, proc, clocks, boots, chaos, apps random.Stream

	slots []*flight
	free  []int32
	lent  []int32 // slots that the node under way writes its packets into
	out   []stack.Effect

	baseline fault.Baseline
	faults   []fault.Fault // those of the schedule, and then those injected
	planned  int           // how many are of the schedule
	next     int           // the next of them
	running  []int32       // the faults under way
	stable   bool          // one of them is Heal

	events  uint64
	hash    uint64
	check   check.Checker
	failed  *Violation
	codec   codec
	count   Counters          // without the counts of the checker: see Counters
	reached map[string]uint64 // see [World.Sometimes]

	app      app
	cargo    []byte // what an application says with the packet to cargoTo
	cargoTo  timed.NodeID
	record   *Recording
	changes  uint64    // see Changes
	cast     *casting  // nil without a broadcast
	external *external // nil without time servers
	global   *globally // nil without a quorum system
	change   *changing // nil where it is not replaced
	meter    *roundsMeter
}

// Counters counts what happened in a run.
type Counters struct {
	Delivered, Timeouts                  uint64
	Sent, Electing                       uint64 // packets, and those that request, grant or free votes
	Lost, Late, Cut, Reordered, Repeated uint64
	Corrupted, Forged                    uint64
	Crashes, Restarts, Elections, Views  uint64
	Casts, Deliveries                    uint64                // messages of the broadcast
	Faults                               [fault.Classes]uint64 // by class
	Sometimes                            [situation.Count]uint64
}

// origin keeps instants away from zero, which means "none" in places.
const origin = int64(1000 * time.Second)

func newWorld(seed uint64, opt Options) *World { return newWorldOf(seed, opt, opt.draw(seed)) }

func newWorldOf(seed uint64, opt Options, s fault.Schedule) *World {
	w := &World{opt: opt, seed: seed, now: origin, hash: 14695981039346656037 ^ seed,
		baseline: s.Baseline, faults: slices.Clip(s.Faults), planned: len(s.Faults), apps: random.New(seed, random.Apps),
		net: random.New(seed, random.Network), proc: random.New(seed, random.Processes),
		clocks: random.New(seed, random.Clocks), boots: random.New(seed, random.Boots), chaos: random.New(seed, random.Faults)}
	w.bounds, _ = opt.Timing.Validate()
	w.check.Reset(check.Config{Nodes: opt.Nodes, Timing: opt.Timing, Bounds: w.bounds, Servers: s.Servers, Start: origin, Violated: w.violated}, origin)
	if w.global = newGlobally(seed, &opt); w.global != nil {
		w.check.FollowGlobal(w.global.system, w.global.counts)
	}
	w.change = w.newChanging()
	if s.Servers != nil {
		w.external = w.newExternal(s.Servers)
	}
	if s.Traffic != nil {
		w.cast = w.newCasting(s.Traffic)
	}
	for i := range opt.Nodes {
		w.addNode(timed.NodeID(i+1), i)
	}
	w.applyFaults()
	w.begin()
	return w
}

func (w *World) schedule(at int64, k kind, node int, arg int32) {
	w.seq++
	w.queue.push(makeEvent(at, w.seq, k, node, arg))
}

// mix folds a value into the trace hash.
func (w *World) mix(x uint64) { w.hash = (w.hash ^ x) * 1099511628211 }

// step performs the next event. It returns false when a check has failed or
// nothing is left.
func (w *World) step() bool {
	e := w.queue.pop()
	w.now, w.check.Now = e.at, e.at
	switch e.kind() {
	case deliver:
		w.deliver(e)
	case wake:
		w.wake(e)
	case faultEnds:
		w.endFault(e.arg)
	case timer:
		w.fire(e)
	case talk:
		w.talk(e)
	case query:
		w.query(e)
	case reply:
		w.reply(e)
	case temperature:
		w.temperatureStep(e)
	case begins:
		w.beginFault(e.arg)
	case decides:
		w.decide(e)
	}
	w.settle()
	return w.failed == nil
}

// deliver hands a packet to its destination.
func (w *World) deliver(e event) {
	n := w.nodes[e.node()]
	f := w.slots[e.arg]
	if n.stalledUntil > w.now {
		w.schedule(n.stalledUntil+int64(n.jitter(w)), deliver, e.node(), e.arg)
		return
	}
	if !n.proc.Up || n.proc.Upset && w.reincarnate(n) {
		if w.record != nil {
			w.recordLoss(f, e.node())
		}
		w.drop(e.arg)
		return
	}
	if w.opt.Bare {
		w.deliverBare(n, e.arg)
		return
	}
	w.events++
	w.count.Delivered++
	now := n.tick(w.now)
	h := &f.packet.Header
	w.mix(uint64(w.now) ^ uint64(e.node())<<56 ^ uint64(h.Source)<<48)
	w.mix(uint64(h.Counter) ^ uint64(f.packet.Frames)<<40 ^ uint64(h.Stamp)<<8)
	if w.opt.Trace != nil {
		w.tracePacket(n, f)
	}
	out := w.handle(n, now, &f.packet)
	w.check.Delivered(&n.proc, w.arrival(f), now)
	if w.record != nil {
		w.recordArrival(n, f)
	}
	if f.payload != nil {
		w.arrived(n, f)
	}
	w.drop(e.arg)
	w.after(n, now, out)
}

// arrival returns what the checks must know of a packet that arrives.
func (w *World) arrival(f *flight) check.Arrival {
	a := check.Arrival{Packet: &f.packet, Sent: f.sent}
	if f.from != nobody {
		a.From = &w.nodes[f.from].proc
	}
	return a
}

// handle lets a node handle a packet.
func (w *World) handle(n *Node, now timed.Instant, p *wire.Packet) []stack.Effect {
	if w.meter != nil {
		return w.meter.handle(n, now, p, w.out[:0])
	}
	return n.proc.Stack.HandlePacket(now, now, p, w.out[:0])
}

// drop frees a slot.
func (w *World) drop(slot int32) {
	w.slots[slot].payload = nil
	w.free = append(w.free, slot)
}

// wake lets a node look at its timers.
func (w *World) wake(e event) {
	n := w.nodes[e.node()]
	if !n.proc.Up || e.arg != n.wakeTicket {
		return
	}
	n.wakeAt, n.armedFor = hardware.Forever, timed.Never
	if n.stalledUntil > w.now {
		w.arm(n, n.stalledUntil)
		return
	}
	if n.proc.Upset && w.reincarnate(n) {
		return
	}
	now := n.tick(w.now)
	if now < n.proc.Stack.Deadline() {
		w.arm(n, 0)
		return
	}
	w.events++
	w.count.Timeouts++
	w.mix(uint64(w.now) ^ uint64(e.node())<<56)
	if w.opt.Trace != nil {
		w.trace(n, "timeout")
	}
	w.after(n, now, n.proc.Stack.HandleTimeout(now, w.out[:0]))
	if w.global != nil {
		w.verifies(n)
	}
	if w.change != nil {
		w.administers(n)
	}
}

// after performs the effects of a turn, checks the world, and arms the timer.
func (w *World) after(n *Node, now timed.Instant, out []stack.Effect) {
	restart, sent := false, 0
	broken := n.sendErrors > 0 && w.net.Chance(n.sendErrors)
	for i := range out {
		switch e := &out[i]; e.Kind {
		case stack.Send, stack.SendBack:
			if w.external != nil && e.Packet.Has(wire.FrameLine) {
				w.check.Announces(e.Packet.Line.Until)
			}
			if w.cast != nil && e.Packet.Has(wire.FrameBroadcast) {
				w.cast.check.Says(e.Packet.Broadcast) // also what is lost at once has been decided
			}
			if w.global != nil && e.Packet.Has(wire.FrameAnswer) {
				w.check.Answered(&n.proc, e.Packet)
			}
			if slot := w.lent[sent]; broken {
				w.count.Lost++
				w.drop(slot)
			} else {
				w.send(n, e, slot)
			}
			sent++
		case stack.Persist:
			if w.persist(n, e.Epoch) {
				w.dies(n, sent)
				return
			}
		case stack.Deliver:
			w.casts(n, e.Broadcast)
		case stack.Notify:
			w.mix(uint64(e.Event.Kind)<<8 | uint64(e.Event.Peer))
			if w.opt.Trace != nil {
				w.traceEvent(n, e.Event)
			}
			restart = w.check.Event(&n.proc, e.Event) || restart
			if e.Event.Kind == stack.EventEpoch && e.Event.Change.Kind == epoch.Proposed {
				w.falls(n)
			}
			if w.app.Start != nil {
				w.app.hears(n, e.Event)
			}
			if w.record != nil {
				w.recordEvent(n, e.Event)
			}
		}
	}
	w.out, w.lent = out[:0], w.lent[:0]
	w.check.Turn(&n.proc, now)
	if restart {
		w.blames(n)
	}
	if w.record != nil {
		w.recordClaims(n)
	}
	if w.check.Quit == &n.proc {
		w.check.Quit = nil
		w.crash(n)
		return
	}
	if w.cast != nil {
		if w.check.Leaves == &n.proc {
			w.check.Leaves = nil
			w.overrun(n)
			return
		}
		if !n.slowConsumer {
			w.consume(n)
		}
	}
	if n.proc.Up && !n.proc.Upset {
		w.arm(n, 0)
	}
}

// arm schedules the node's next look at its timers, not before earliest.
func (w *World) arm(n *Node, earliest int64) {
	if n.proc.Stack == nil {
		return
	}
	due := n.proc.Stack.Deadline()
	if due >= n.armedFor && n.wakeAt != hardware.Forever {
		return // the look that is scheduled already comes early enough
	}
	at := max(n.proc.Clock.When(due), earliest, w.now)
	if at >= n.wakeAt {
		return
	}
	n.armedFor = due
	if at != hardware.Forever {
		at += n.jitter(w)
	}
	if at >= n.wakeAt {
		return
	}
	n.wakeAt = at
	n.wakeTicket++
	w.schedule(at, wake, n.proc.Index, n.wakeTicket)
}

// take returns a slot that nobody uses.
func (w *World) take() (slot int32) {
	if k := len(w.free); k > 0 {
		slot, w.free = w.free[k-1], w.free[:k-1]
		return slot
	}
	w.slots = append(w.slots, new(flight))
	return int32(len(w.slots) - 1)
}

// lend gives a node a packet to write, where it stays until it arrives.
func (w *World) lend() *wire.Packet {
	slot := w.take()
	w.lent = append(w.lent, slot)
	return &w.slots[slot].packet
}

// electing are the frames by which leaders are made and unmade.
const electing = wire.FrameRequest | wire.FrameReply | wire.FrameRelease

// send puts a packet on its link.
func (w *World) send(n *Node, e *stack.Effect, slot int32) {
	to := int(e.Peer) - 1
	if to < 0 || to >= w.opt.Nodes {
		w.drop(slot)
		return
	}
	n.counter++
	w.count.Sent++
	f := w.slots[slot]
	if f.packet.Frames&electing != 0 {
		w.count.Electing++
	}
	if w.meter != nil {
		w.meter.leaves(n, &f.packet)
	}
	f.packet.Header.Counter = n.counter
	f.sent, f.from, f.payload = w.now, int32(n.proc.Index), nil
	if w.cargo != nil && e.Peer == w.cargoTo {
		f.payload, w.cargo = w.cargo, nil
	}
	if w.opt.Codec {
		if err := w.codec.pass(&f.packet); err != nil {
			w.check.Fail("codec", &n.proc, "%v", err)
		}
	}
	f.stow()
	for i := w.opt.Nodes; i < len(w.nodes); i++ {
		if r := w.nodes[i]; r.proc.Up && r.proc.ID == e.Peer && r != n {
			again := w.copy(slot)
			w.carry(n, again, i)
		}
	}
	if to == n.proc.Index {
		w.drop(slot) // a rival speaks to its own id: nobody is there but itself
		return
	}
	w.carry(n, slot, to)
}

// carry takes a packet over a link, with what the link does to it.
func (w *World) carry(n *Node, slot int32, to int) {
	l := &w.links[n.proc.Index][to]
	f := w.slots[slot]
	delay, ok := l.draw(w, f)
	if ok && l.odd {
		ok = w.tamper(&l.rare, slot, to, w.now+delay)
	}
	if !ok {
		if w.record != nil {
			w.recordLoss(f, to)
		}
		w.drop(slot)
		return
	}
	if again := l.repeats(w); again > 0 {
		w.count.Repeated++
		w.schedule(w.now+delay+again, deliver, to, w.copy(slot))
	}
	w.schedule(w.now+delay, deliver, to, slot)
}

func (w *World) trace(n *Node, format string, args ...any) {
	fmt.Fprintf(w.opt.Trace, "%12.6f  node %d  %s\n", float64(w.now-origin)/1e9, n.proc.Index+1, fmt.Sprintf(format, args...))
}
