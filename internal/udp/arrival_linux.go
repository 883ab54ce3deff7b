package udp

import (
	"net/netip"

	"github.com/failaware/failaware/timed"
)

// arrival is one message read from the kernel: one packet, or several consecutive
// packets of one size from one address, of which the last may be shorter.
type arrival struct {
	rest  []byte // bytes not yet delivered
	size  int    // of each packet; zero for an empty one
	addr  netip.AddrPort
	first timed.Instant // when the next packet counts as received
	later timed.Instant // and those after it
}

// newArrival notes the bytes of a message whose packets have the given size. A size of
// zero, or of at least the whole message, means one packet.
func newArrival(message []byte, size int) arrival {
	if size <= 0 || size > len(message) {
		size = len(message)
	}
	return arrival{rest: message, size: size}
}

// next cuts off the next packet. last reports whether it is the last one.
func (a *arrival) next() (packet []byte, received timed.Instant, last bool) {
	n := min(a.size, len(a.rest))
	packet, a.rest = a.rest[:n:n], a.rest[n:] // so that appending does not overwrite the next packet
	received, a.first = a.first, a.later
	return packet, received, len(a.rest) == 0
}

// deliver hands out packets, as many as fit into the caller's slice.
func (r *receiver) deliver() {
	n, bytes := 0, 0
	for n < len(r.pkts) && r.delivered < len(r.arrivals) {
		a := &r.arrivals[r.delivered]
		packet, received, last := a.next()
		if last {
			r.delivered++
		}
		if len(packet) > r.longest {
			r.count.truncated.Add(1)
			continue
		}
		r.pkts[n] = Packet{Buf: packet, N: len(packet), Addr: a.addr, Received: received}
		n++
		bytes += len(packet)
	}
	r.count.receivedPackets.Add(uint64(n))
	r.count.receivedBytes.Add(uint64(bytes))
	r.n = n
}
