package sim

import (
	"cmp"
	"slices"

	"github.com/failaware/failaware/timed"
)

// A quiet packet does not wake its receiver, as in package udp: it waits until something
// else does, and is then handled first.

// deferQuiet leaves a packet for later if it is quiet, and reports whether it did.
func (w *World) deferQuiet(n *Node, slot int32) bool {
	if !w.slots[slot].packet.Header.Quiet || !n.proc.Up || w.opt.Bare || w.meter != nil || w.addresses != nil {
		return false
	}
	n.quiet = append(n.quiet, waiting{slot, w.now, n.proc.Clock.Show(w.now)})
	return true
}

// withQuiet returns the packets of a batch and the quiet ones, in order of arrival.
func (n *Node) withQuiet(batch []waiting) []waiting {
	if len(n.quiet) == 0 {
		return batch
	}
	all := append(append(n.merged[:0], n.quiet...), batch...)
	n.quiet, n.merged = n.quiet[:0], all
	slices.SortStableFunc(all, func(a, b waiting) int { return cmp.Compare(a.arrived, b.arrived) })
	return all
}

// readQuiet lets a node that was woken at now handle its quiet packets. It reports whether
// the node's incarnation still runs.
func (w *World) readQuiet(n *Node, now timed.Instant) bool {
	batch := n.quiet
	n.quiet = batch[:0]
	return w.receiveAll(n, batch, now, false)
}
