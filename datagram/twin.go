package datagram

import "github.com/failaware/failaware/timed"

// recentPackets holds the stamps that belong to the last counters of an
// incarnation. A process gives each counter to one packet. Two packets with the same
// counter and different stamps come from two processes with the same boot id: a
// machine and a copy made with its running memory. Nothing tells the two apart, and
// no lease of either means anything.
type recentPackets [recentCount]struct {
	counter uint64
	stamp   timed.Instant
}

// recentCount is how many packets of a peer are remembered. Twins send at about the
// same pace, so their counters meet within a few packets.
const recentCount = 8

// conflict notes a packet and reports whether another packet had its counter. Packets
// without a counter (0) prove nothing. A repeated packet is not a conflict.
func (l *recentPackets) conflict(h *Header) bool {
	e := &l[h.Counter%recentCount]
	if h.Counter == e.counter && h.Counter != 0 {
		return h.Stamp != e.stamp
	}
	if h.Counter > e.counter {
		e.counter, e.stamp = h.Counter, h.Stamp
	}
	return false
}
