package sim

import (
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/timed"
)

// take returns a free slot.
func (w *World) take() (slot int32) {
	if k := len(w.free); k > 0 {
		slot, w.free = w.free[k-1], w.free[:k-1]
		return slot
	}
	w.slots = append(w.slots, new(flight))
	return int32(len(w.slots) - 1)
}

// newPacket returns a packet for a node to write. It stays in its slot until it arrives.
func (w *World) newPacket() *wire.Packet {
	slot := w.take()
	w.writing = append(w.writing, slot)
	return &w.slots[slot].packet
}

// drop frees a slot.
func (w *World) drop(slot int32) {
	w.slots[slot].payload = nil
	w.free = append(w.free, slot)
}

// addressing is a network in which addresses matter. Only tests have one.
type addressing interface {
	// send sends the packet of an effect to the address of its destination.
	send(n *Node, e *stack.Effect, slot int32)
	// admits reports whether a packet that has arrived at a process counts.
	admits(n *Node, f *flight) bool
	// follow updates the address of a packet's sender by the verdict on the packet, which was
	// handled last.
	follow(n *Node, now timed.Instant, f *flight)
}

// electing are the frames of elections.
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
		w.meter.countSent(n, &f.packet)
	}
	f.packet.Header.Counter = wire.FirstCounter(n.newest) + n.counter
	f.sent, f.from, f.payload = w.now, int32(n.proc.Index), nil
	if w.payload != nil && e.Peer == w.payloadTo {
		f.payload, w.payload = w.payload, nil
	}
	if w.opt.Codec {
		if err := w.codec.pass(&f.packet); err != nil {
			w.check.Fail("codec", &n.proc, "%v", err)
		}
	}
	f.detach()
	if w.addresses != nil {
		w.addresses.send(n, e, slot)
		return
	}
	for i := w.opt.Nodes; i < len(w.nodes); i++ {
		if r := w.nodes[i]; r.proc.Up && r.proc.ID == e.Peer && r != n {
			again := w.copy(slot)
			w.carry(n, again, i)
		}
	}
	if to == n.proc.Index {
		w.drop(slot) // a rival sends to its own id
		return
	}
	w.carry(n, slot, to)
}

// carry takes a packet over a link, which may lose, delay, repeat or damage it.
func (w *World) carry(n *Node, slot int32, to int) {
	l := &w.links[n.proc.Index][to]
	f := w.slots[slot]
	delay, ok := l.draw(w, f)
	if len(w.pendingLosses) > 0 && w.losesByFault(n, to, &f.packet) {
		w.count.Lost++
		ok = false
	}
	if ok && l.odd {
		ok = w.tamper(&l.rare, slot, to, w.now+delay)
	}
	if !ok {
		w.recordLoss(f, to)
		w.drop(slot)
		return
	}
	if again := l.repeatDelay(w); again > 0 {
		w.count.Repeated++
		w.schedule(w.now+delay+again, eventDeliver, to, w.copy(slot))
	}
	w.schedule(w.now+delay, eventDeliver, to, slot)
}

// deliver delivers a packet to its destination, whose process may be down or stopped.
func (w *World) deliver(e event) {
	n := w.nodes[e.node()]
	f := w.slots[e.arg]
	switch {
	case w.deferQuiet(n, e.arg):
		return
	case n.stalledUntil > w.now && w.opt.Bare:
		w.schedule(n.stalledUntil+n.jitter(w), eventDeliver, e.node(), e.arg)
		return
	case n.proc.Up && (n.stalledUntil > w.now || len(n.socket) > 0):
		w.queueInSocket(n, e.arg)
		return
	}
	if !n.proc.Up || w.reincarnateIfUpset(n) {
		w.recordLoss(f, e.node())
		w.drop(e.arg)
		return
	}
	if w.opt.Bare {
		w.deliverBare(n, e.arg)
		return
	}
	now := n.tick(w.now)
	if !w.readQuiet(n, now) {
		w.discard(n, []waiting{{slot: e.arg}})
		return
	}
	w.receive(n, waiting{e.arg, w.now, now}, now, true)
}

// receive lets a node handle a packet at now. last says that it ends the batch.
func (w *World) receive(n *Node, p waiting, now timed.Instant, last bool) {
	f := w.slots[p.slot]
	w.events++
	w.count.Delivered++
	h := &f.packet.Header
	w.mix(uint64(w.now) ^ uint64(n.proc.Index)<<56 ^ uint64(h.Source)<<48)
	w.mix(uint64(h.Counter) ^ uint64(f.packet.Frames)<<40 ^ uint64(h.Stamp)<<8)
	if w.opt.Trace != nil {
		w.tracePacket(n, f)
	}
	if h.Version > n.newest || w.addresses != nil && !w.addresses.admits(n, f) {
		w.drop(p.slot)
		return
	}
	out := w.handle(n, now, p.received, &f.packet, last)
	if w.addresses != nil {
		w.addresses.follow(n, now, f)
	}
	w.check.Delivered(&n.proc, w.arrival(f, p.arrived), now)
	w.recordArrival(n, f)
	if f.payload != nil {
		w.noteMessage(n, f)
	}
	w.drop(p.slot)
	w.finishTurn(n, now, out)
}

// arrival describes an arriving packet to the checks.
func (w *World) arrival(f *flight, at int64) check.Arrival {
	a := check.Arrival{Packet: &f.packet, Sent: f.sent, Received: at}
	if f.from != nobody {
		a.From = &w.nodes[f.from].proc
	}
	return a
}

// handle lets a node handle a packet.
func (w *World) handle(n *Node, now, received timed.Instant, p *wire.Packet, last bool) []stack.Effect {
	switch {
	case w.meter != nil: // in a world in which nothing waits
		return w.meter.handle(n, now, p, w.out[:0])
	case last:
		return n.proc.Stack.HandlePacket(now, received, p, w.out[:0])
	}
	return n.proc.Stack.HandleBatched(now, received, p, w.out[:0])
}
