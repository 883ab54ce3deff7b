package sim

import (
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// socketBatch is how many packets a process of a world reads from its socket at once, as
// the loop of a node does. In every other world it is one, as on systems that read no
// batches.
func (w *World) socketBatch() int {
	if w.seed%2 == 0 {
		return 1
	}
	return 64
}

// waiting is a packet in the socket of a process that is stopped.
type waiting struct {
	slot     int32
	arrived  int64         // true time
	received timed.Instant // the kernel's stamp, on the clock of the machine
}

// waits leaves a packet in the socket of a stopped process.
func (w *World) waits(n *Node, slot int32) {
	if len(n.socket) == 0 {
		w.schedule(n.stalledUntil+n.jitter(w), reads, n.proc.Index, 0)
	}
	n.socket = append(n.socket, waiting{slot, w.now, n.proc.Clock.Show(w.now)})
}

// reads lets a process read its socket when it runs again.
func (w *World) reads(e event) {
	n := w.nodes[e.node()]
	switch {
	case len(n.socket) == 0: // its timer woke it first
	case n.stalledUntil > w.now:
		w.schedule(n.stalledUntil+n.jitter(w), reads, e.node(), 0)
	default:
		w.readSocket(n)
		if len(n.socket) > 0 {
			w.schedule(w.now, reads, e.node(), 0)
		}
	}
}

// readSocket hands the packets that wait to their process, in one turn.
func (w *World) readSocket(n *Node) {
	batch := n.socket[:min(len(n.socket), w.socketBatch())]
	n.socket = n.socket[len(batch):]
	if w.reincarnated(n) {
		w.lose(n, batch)
		return
	}
	if len(batch) > 1 {
		w.check.Sometimes(situation.SocketBatch)
	}
	now, boot := n.tick(w.now), n.proc.Boot
	batch = n.withQuiet(batch)
	for i, p := range batch {
		p.received = timed.Earlier(p.received, now)
		w.receive(n, p, now, i == len(batch)-1)
		if !n.proc.Up || n.proc.Upset || n.proc.Boot != boot {
			w.lose(n, batch[i+1:])
			return
		}
	}
}

// readWaiting hands the packets that wait for a process to it, the quiet ones too, as its
// loop does whenever something wakes it. It reports whether the process may go on.
func (w *World) readWaiting(n *Node) bool {
	if len(n.socket) > 0 {
		w.readSocket(n)
	}
	return n.proc.Up && !n.proc.Upset && w.readQuiet(n, n.tick(w.now))
}

// emptySocket loses the packets that wait for a process that ends.
func (w *World) emptySocket(n *Node) {
	w.lose(n, n.socket)
	w.lose(n, n.quiet)
	n.socket, n.quiet = n.socket[:0], n.quiet[:0]
}

func (w *World) lose(n *Node, packets []waiting) {
	for _, p := range packets {
		if w.record != nil {
			w.recordLoss(w.slots[p.slot], n.proc.Index)
		}
		w.drop(p.slot)
	}
}
