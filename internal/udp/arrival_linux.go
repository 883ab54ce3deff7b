package udp

import (
	"net/netip"

	"github.com/failaware/failaware/timed"
)

// arrival is a message of the kernel that was read: one packet, or several of one
// size that came one after the other from one address, of which the last may be
// shorter.
type arrival struct {
	rest  []byte // what the caller has not got yet
	size  int    // of each packet; zero for an empty one
	addr  netip.AddrPort
	first timed.Instant // when the next packet counts as received
	later timed.Instant // and those after it
}

// newArrival notes the bytes of a message whose packets have the given size; zero,
// or one that is no less, means that it is one packet.
func newArrival(message []byte, size int) arrival {
	if size <= 0 || size > len(message) {
		size = len(message)
	}
	return arrival{rest: message, size: size}
}

// next cuts off the next packet. last tells that there are no more.
func (a *arrival) next() (packet []byte, received timed.Instant, last bool) {
	n := min(a.size, len(a.rest))
	packet, a.rest = a.rest[:n:n], a.rest[n:] // so that appending to it spares the next one
	received, a.first = a.first, a.later
	return packet, received, len(a.rest) == 0
}

// give hands out packets, as many as the caller has room for.
func (r *receiver) give() {
	n, bytes := 0, 0
	for n < len(r.pkts) && r.given < len(r.arrivals) {
		a := &r.arrivals[r.given]
		packet, received, last := a.next()
		if last {
			r.given++
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
