package datagram

import "github.com/failaware/failaware/timed"

// ledger is what an incarnation sent with its last counters. A process gives
// each counter to one packet; two packets with the same counter and different
// stamps come from two processes that take themselves for one: a machine and a
// copy of it that was made with its running memory. No boot id can tell them
// apart, and no lease of either means anything.
type ledger [ledgerSize]struct {
	counter uint64
	stamp   timed.Instant
}

// ledgerSize is how many packets of a peer are remembered. Twins send at about
// the same pace, so that their counters meet within a few packets.
const ledgerSize = 8

// clash notes a packet, and reports whether another one had its counter. Packets
// without a counter (0) say nothing; one that is repeated is the same packet.
func (l *ledger) clash(h *Header) bool {
	e := &l[h.Counter%ledgerSize]
	if h.Counter == e.counter && h.Counter != 0 {
		return h.Stamp != e.stamp
	}
	if h.Counter > e.counter {
		e.counter, e.stamp = h.Counter, h.Stamp
	}
	return false
}
