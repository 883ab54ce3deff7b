package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// world is the deterministic world of one run: true time, nodes with drifting
// clocks, and links. One goroutine; no map order anywhere.
type world struct {
	opt    Options
	bounds timed.Bounds
	seed   uint64

	now   int64 // true time, in nanoseconds
	seq   uint64
	queue queue
	nodes []*node
	links [][]link

	net, proc, clocks, boots, chaos stream

	slots []*flight
	free  []int32
	lent  []int32 // slots that the node under way writes its packets into
	out   []stack.Effect

	temper temper
	events uint64
	hash   uint64
	check  checker
	wire   *wire // not nil: packets pass through the wire format
	count  Counters
}

// flight is a packet on its way.
type flight struct {
	packet stack.Packet
	sent   int64 // true time
}

// Counters counts what happened in a run.
type Counters struct {
	Delivered, Timeouts, Lost, Late, Cut uint64
	Crashes, Restarts, Stalls, Splits    uint64
	Handovers, Repeated                  uint64
	Elections, Views                     uint64
}

// origin keeps instants away from zero, which means "none" in places.
const origin = int64(1000 * time.Second)

func newWorld(seed uint64, opt Options) *world {
	w := &world{opt: opt, seed: seed, now: origin, hash: 14695981039346656037 ^ seed,
		net: newStream(seed, streamNetwork), proc: newStream(seed, streamProcesses),
		clocks: newStream(seed, streamClocks), boots: newStream(seed, streamBoots), chaos: newStream(seed, streamFaults)}
	w.bounds, _ = opt.Timing.Validate()
	w.check.w = w
	w.temper = w.drawTemper()
	if opt.Codec {
		w.wire = &wire{}
	}
	for i := range opt.Nodes {
		w.nodes = append(w.nodes, w.newNode(i))
	}
	w.links = make([][]link, opt.Nodes)
	for i := range w.links {
		w.links[i] = make([]link, opt.Nodes)
	}
	w.calm()
	w.check.reset(opt.Nodes)
	return w
}

func (w *world) schedule(at int64, k kind, node int, arg int32) {
	w.seq++
	w.queue.push(makeEvent(at, w.seq, k, node, arg))
}

// mix folds a value into the trace hash.
func (w *world) mix(x uint64) { w.hash = (w.hash ^ x) * 1099511628211 }

// step performs the next event. It returns false when a check has failed or
// nothing is left.
func (w *world) step() bool {
	e := w.queue.pop()
	w.now = e.at
	switch e.kind() {
	case deliver:
		w.deliver(e)
	case wake:
		w.wake(e)
	case fault:
		if n := w.nodes[e.node()]; !n.dead {
			w.restart(n)
		}
	}
	return w.check.failed == nil
}

// deliver hands a packet to its destination.
func (w *world) deliver(e event) {
	n := w.nodes[e.node()]
	f := w.slots[e.arg]
	if n.stalledUntil > w.now {
		w.schedule(n.stalledUntil+int64(n.jitter(w)), deliver, e.node(), e.arg)
		return
	}
	if !n.up {
		w.free = append(w.free, e.arg)
		return
	}
	w.events++
	w.count.Delivered++
	now := n.tick(w.now)
	h := &f.packet.Header
	w.mix(uint64(w.now) ^ uint64(e.node())<<56 ^ uint64(h.Source)<<48)
	w.mix(uint64(h.Counter) ^ uint64(f.packet.Frames)<<40 ^ uint64(h.Stamp)<<8)
	if w.opt.Trace != nil {
		w.tracePacket(n, f, now)
	}
	out := n.st.HandlePacket(now, now, &f.packet, w.out[:0])
	w.check.delivered(n, f, now)
	w.free = append(w.free, e.arg)
	w.after(n, now, out)
}

// wake lets a node look at its timers.
func (w *world) wake(e event) {
	n := w.nodes[e.node()]
	if !n.up || e.arg != n.wakeTicket {
		return
	}
	n.wakeAt, n.armedFor = forever, timed.Never
	if n.stalledUntil > w.now {
		w.arm(n, n.stalledUntil)
		return
	}
	now := n.tick(w.now)
	if now < n.st.Deadline() {
		w.arm(n, 0)
		return
	}
	w.events++
	w.count.Timeouts++
	w.mix(uint64(w.now) ^ uint64(e.node())<<56)
	if w.opt.Trace != nil {
		w.trace(n, now, "timeout")
	}
	w.after(n, now, n.st.HandleTimeout(now, w.out[:0]))
}

// after performs the effects of a turn, checks the world, and arms the timer.
func (w *world) after(n *node, now timed.Instant, out []stack.Effect) {
	restart, sent := false, 0
	for i := range out {
		switch e := &out[i]; e.Kind {
		case stack.Send, stack.Answer:
			w.send(n, e, w.lent[sent])
			sent++
		case stack.Notify:
			w.mix(uint64(e.Event.Kind)<<8 | uint64(e.Event.Peer))
			if w.opt.Trace != nil {
				w.traceEvent(n, now, e.Event)
			}
			restart = w.check.event(n, now, e.Event) || restart
		}
	}
	w.out, w.lent = out[:0], w.lent[:0]
	w.check.turn(n, now)
	if n.up {
		w.arm(n, 0)
	}
	if restart {
		w.check.fail("clock", n, "blamed its own clock although all clocks keep ρ")
	}
}

// arm schedules the node's next look at its timers, not before earliest.
func (w *world) arm(n *node, earliest int64) {
	due := n.st.Deadline()
	if due >= n.armedFor && n.wakeAt != forever {
		return // the look that is scheduled already comes early enough
	}
	at := max(n.clock.when(due), earliest, w.now)
	if at >= n.wakeAt {
		return
	}
	n.armedFor = due
	if at != forever {
		at += n.jitter(w)
	}
	if at >= n.wakeAt {
		return
	}
	n.wakeAt = at
	n.wakeTicket++
	w.schedule(at, wake, n.index, n.wakeTicket)
}

// take returns a slot that nobody uses.
func (w *world) take() (slot int32) {
	if k := len(w.free); k > 0 {
		slot, w.free = w.free[k-1], w.free[:k-1]
		return slot
	}
	w.slots = append(w.slots, new(flight))
	return int32(len(w.slots) - 1)
}

// lend gives a node a packet to write, where it stays until it arrives.
func (w *world) lend() *stack.Packet {
	slot := w.take()
	w.lent = append(w.lent, slot)
	return &w.slots[slot].packet
}

// send puts a packet on its link.
func (w *world) send(n *node, e *stack.Effect, slot int32) {
	to := int(e.To) - 1
	if to < 0 || to >= len(w.nodes) {
		w.free = append(w.free, slot)
		return
	}
	n.counter++
	link := &w.links[n.index][to]
	delay, ok := link.draw(w, e.Packet.Frames)
	if !ok {
		w.free = append(w.free, slot)
		return
	}
	again := int64(0)
	if link.twice > 0 && w.net.chance(link.twice) {
		again = w.net.between(link.min, link.max)
	} else if link.replay > 0 && w.net.chance(link.replay) {
		again = w.net.between(0, int64(3*time.Second))
	}
	f := w.slots[slot]
	f.packet.Header.Counter = n.counter
	f.sent = w.now
	if w.wire != nil {
		if err := w.wire.pass(&f.packet); err != nil {
			w.check.fail("codec", n, "%v", err)
		}
	}
	w.schedule(w.now+delay, deliver, to, slot)
	if again > 0 {
		w.count.Repeated++
		w.repeat(slot, w.now+delay+again, to)
	}
}

// repeat lets a packet arrive once more.
func (w *world) repeat(slot int32, at int64, to int) {
	again := w.take()
	*w.slots[again] = *w.slots[slot]
	w.schedule(at, deliver, to, again)
}

func (w *world) trace(n *node, now timed.Instant, format string, args ...any) {
	fmt.Fprintf(w.opt.Trace, "%12.6f  node %d  %s\n", float64(w.now-origin)/1e9, n.index+1, fmt.Sprintf(format, args...))
}
