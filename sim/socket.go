package sim

import (
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// socketBatch returns how many packets a process reads from its socket at once. In every
// other world it is one, as on systems that read no batches.
func (w *World) socketBatch() int {
	if w.seed%2 == 0 {
		return 1
	}
	return 64
}

// waiting is an unread packet in the socket of a process.
type waiting struct {
	slot     int32
	arrived  int64         // true time
	received timed.Instant // the kernel's stamp, on the clock of the machine
}

// queueInSocket leaves a packet in the socket of a process.
func (w *World) queueInSocket(n *Node, slot int32) {
	if len(n.socket) == 0 {
		w.schedule(n.stalledUntil+n.jitter(w), eventSocketReady, n.proc.Index, 0)
	}
	n.socket = append(n.socket, waiting{slot, w.now, n.proc.Clock.Show(w.now)})
}

// socketReady lets a process read its socket when it runs again.
func (w *World) socketReady(e event) {
	n := w.nodes[e.node()]
	switch {
	case len(n.socket) == 0: // its timer woke it first
	case n.stalledUntil > w.now:
		w.schedule(n.stalledUntil+n.jitter(w), eventSocketReady, e.node(), 0)
	default:
		w.readSocket(n)
		if len(n.socket) > 0 {
			w.schedule(w.now, eventSocketReady, e.node(), 0)
		}
	}
}

// readSocket lets a process handle a batch of the waiting packets, in one turn.
func (w *World) readSocket(n *Node) {
	batch := n.socket[:min(len(n.socket), w.socketBatch())]
	n.socket = n.socket[len(batch):]
	if w.reincarnateIfUpset(n) {
		w.discard(n, batch)
		return
	}
	if len(batch) > 1 {
		w.check.Sometimes(situation.SocketBatch)
	}
	now := n.tick(w.now)
	w.receiveAll(n, n.withQuiet(batch), now, true)
}

// receiveAll lets a node handle packets at now. ends says that the last one ends the batch.
// It reports whether the node's incarnation still runs.
func (w *World) receiveAll(n *Node, batch []waiting, now timed.Instant, ends bool) bool {
	boot := n.proc.Boot
	for i, p := range batch {
		p.received = timed.Earlier(p.received, now)
		w.receive(n, p, now, ends && i == len(batch)-1)
		if !n.proc.Up || n.proc.Upset || n.proc.Boot != boot {
			w.discard(n, batch[i+1:])
			return false
		}
	}
	return true
}

// readWaiting lets a process handle a batch of the waiting packets and the quiet ones, as
// the loop of a node does whenever something wakes it. It reports whether the process still
// runs.
func (w *World) readWaiting(n *Node) bool {
	if len(n.socket) > 0 {
		w.readSocket(n)
	}
	return n.proc.Up && !n.proc.Upset && w.readQuiet(n, n.tick(w.now))
}

// emptySocket discards the waiting packets of a process that ends.
func (w *World) emptySocket(n *Node) {
	w.discard(n, n.socket)
	w.discard(n, n.quiet)
	n.socket, n.quiet = n.socket[:0], n.quiet[:0]
}

func (w *World) discard(n *Node, packets []waiting) {
	for _, p := range packets {
		w.recordLoss(w.slots[p.slot], n.proc.Index)
		w.drop(p.slot)
	}
}
