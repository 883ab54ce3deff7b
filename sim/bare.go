package sim

import (
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// A bare world has the links, clocks, processes and faults of any other, but no
// platform: only the application runs on its nodes. It compares other algorithms with
// the platform's under the same conditions.

// deliverBare delivers an application's message from any incarnation of the sender: no
// platform accepts incarnations here.
func (w *World) deliverBare(n *Node, slot int32) {
	f := w.slots[slot]
	w.events++
	w.count.Delivered++
	w.mix(uint64(w.now) ^ uint64(n.proc.Index)<<56 ^ uint64(f.packet.Header.Source)<<48)
	if w.opt.Trace != nil {
		w.tracePacket(n, f)
	}
	w.recordMessage(f, n.proc.Index, w.Time(), w.now-f.sent <= int64(w.opt.Timing.FastThreshold))
	if f.from != nobody {
		w.noteBareMessage(n, f)
	}
	w.drop(slot)
}

// sendBareMessage sends an application's message in a packet of its own.
func (w *World) sendBareMessage(n *Node, to timed.NodeID, payload []byte) {
	slot := w.take()
	f := w.slots[slot]
	f.packet.Frames = 0
	f.packet.Header = datagram.Header{Version: wire.Version, Group: 1, Source: n.proc.ID, Destination: to, Boot: n.proc.Boot, Stamp: n.tick(w.now)}
	if n.sendErrors > 0 && w.net.Chance(n.sendErrors) {
		w.count.Lost++
		w.drop(slot)
		return
	}
	w.payload, w.payloadTo = payload, to
	w.send(n, &stack.Effect{Kind: stack.Send, Peer: to}, slot)
	w.payload = nil
}

// hasStack reports whether the platform runs on the node.
func (n *Node) hasStack() bool { return n.proc.Up && n.proc.Stack != nil }

// When returns the true time at which the node's hardware clock shows h, if its
// rate stays as it is, or [Never]. It is for tests: no process knows it.
func (n *Node) When(h timed.Instant) time.Duration {
	t := n.proc.Clock.When(h)
	if t == hardware.Forever {
		return Never
	}
	return time.Duration(t - origin)
}

// Connected reports whether two nodes can communicate in time under the present faults:
// both processes run and act in time, and neither direction of their link loses, damages
// or delays anything beyond δ. A node is connected with itself while it acts in time.
func (w *World) Connected(p, q timed.NodeID) bool {
	a, b := w.Node(p), w.Node(q)
	return w.timely(a) && w.timely(b) && (a == b || w.prompt(a, b) && w.prompt(b, a))
}

// Changes counts the events that may connect or disconnect nodes: the beginnings and
// ends of faults, except the ends of stalls, and the starts and ends of processes.
func (w *World) Changes() uint64 { return w.changes }

// Counters returns the counters of the run so far.
func (w *World) Counters() Counters {
	c := w.count
	c.Views, c.Elections, c.Sometimes = w.check.Counts.Views, w.check.Counts.Elections, w.check.Counts.Situations
	return c
}

// Faults returns the faults of the world, planned and injected ones. The slice is
// shared: callers must not change it.
func (w *World) Faults() []fault.Fault { return w.faults }

// Disconnected reports whether no message sent now between two nodes, in either
// direction, can arrive within a time. Zero means no limit: none can arrive at all.
func (w *World) Disconnected(p, q timed.NodeID, within time.Duration) bool {
	a, b := w.Node(p), w.Node(q)
	return a != b && (!a.proc.Up || !b.proc.Up || w.severed(a, b, within) && w.severed(b, a, within))
}

func (w *World) severed(from, to *Node, within time.Duration) bool {
	l := &w.links[from.proc.Index][to.proc.Index]
	return l.cut || within > 0 && l.min+l.slow > int64(within)
}

func (w *World) timely(n *Node) bool {
	return n.proc.Up && n.stalledUntil <= w.now && n.slow <= int64(w.opt.Timing.SchedulingDelay) && n.sendErrors == 0
}

func (w *World) prompt(from, to *Node) bool {
	l := &w.links[from.proc.Index][to.proc.Index]
	return !l.cut && l.loss == 0 && l.late == 0 && l.max+l.slow <= int64(w.opt.Timing.OneWayTimeout)+1000 &&
		(!l.odd || w.now >= l.rare.clogUntil && l.rare.flap == 0 && l.rare.mtu == 0 && l.rare.corrupt == 0 && l.rare.damage == 0 && l.rare.truncate == 0 && l.rare.reorder == 0)
}
