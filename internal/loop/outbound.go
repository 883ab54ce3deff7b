package loop

import (
	"net/netip"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
)

// outbound gathers the packets of a turn, encoded, until they leave together. It
// uses its memory again and again.
type outbound struct {
	encoder wire.Encoder
	pkts    []udp.Packet // the first n are to be sent; the others keep buffers
	n       int
	tails   []*tail           // encoded broadcast frames; the first used are of this turn
	used    int               // how many
	cast    *broadcast.Packet // encoded in the last of them, while the handler's effects are performed
	origin  netip.AddrPort    // where the packet being handled came from
	counter uint64            // of packets sent by this process
	bulk    bool              // one address may get many packets, which are cheapest together

	sealer     *seal.Sealer // nil: packets are not sealed
	shared     []*tail      // of the packets to be sent; nil if a packet has none
	keepalives []bool       // which packets to be sent are quiet keepalives
	random     func() uint64
	salt       uint64 // of the packets that leave together
	challenges challenges
}

// stampsPerTurn is the largest number of system calls in which the packets of a turn
// leave, each with a stamp of its own.
const stampsPerTurn = 16

// keepalivesPerStamp is the largest number of keepalives that leave with one stamp.
const keepalivesPerStamp = 8

// add encodes a packet for an address. An error means that it cannot be encoded.
func (o *outbound) add(p *wire.Packet, to netip.AddrPort, c *counts) error {
	if !to.IsValid() {
		c.unresolved++
		return nil
	}
	if o.n == len(o.pkts) {
		o.pkts = append(o.pkts, udp.Packet{})
	}
	pkt := &o.pkts[o.n]
	t, err := o.tail(p)
	var frame []byte
	if t != nil {
		frame = t.frame
	}
	if err == nil {
		p.Header.Suite, o.encoder.Room = o.suiteFor(len(frame))
		pkt.Buf, err = o.encoder.AppendBefore(pkt.Buf[:0], p, frame)
	}
	if err != nil {
		c.unencoded++
		return err
	}
	pkt.N, pkt.Tail, pkt.Addr = len(pkt.Buf), frame, to
	o.shared = append(o.shared[:o.n], t)
	o.keepalives = append(o.keepalives[:o.n], p.Frames == 0 && p.Header.Quiet)
	o.n++
	return nil
}

// tail returns the part of a packet with messages that is the same for all members: most
// of the packet. It is encoded once for all of them. Other packets share nothing.
func (o *outbound) tail(p *wire.Packet) (*tail, error) {
	if !p.Has(wire.FrameBroadcast) || len(p.Broadcast.Runs) == 0 {
		return nil, nil
	}
	if o.cast == p.Broadcast {
		return o.tails[o.used-1], nil
	}
	if o.used == len(o.tails) {
		o.tails = append(o.tails, new(tail))
	}
	t := o.tails[o.used]
	b, err := o.encoder.AppendBroadcast(t.frame[:0], p.Broadcast)
	if err != nil {
		return nil, err
	}
	t.frame, t.summed, t.sealed = b, false, false
	o.used++
	o.cast = p.Broadcast
	return t, nil
}

// forgetTail says that the memory of packets encoded so far may be used again.
func (o *outbound) forgetTail() { o.cast = nil }

// send stamps the packets, as late as possible, and sends them.
//
// The time between a packet's stamp and its departure adds to the bound of its
// delay, and to the deviation of clocks read by it. The kernel takes some
// microseconds for each packet, on the loopback interface until the receiver is
// awake: with one stamp for all, the last of four packets would look four times as
// slow as the first. A system call for each packet costs a small part of that.
//
// Quiet keepalives wake nobody and carry no vote. A few of them share a stamp: their
// bounds stay true, and are looser by some microseconds.
func (o *outbound) send(clock *hwclock.Clock, conn transport.Conn) {
	together := o.together()
	for at := 0; at < o.n; {
		pkts := o.pkts[at:min(at+max(together, o.keepalivesAt(at)), o.n)]
		o.draw()
		stamp := clock.Now()
		for i := range pkts {
			o.finish(&pkts[i], o.shared[at+i], stamp)
		}
		// An error means that the socket is closed or broken, which reading reports.
		_, _ = conn.WriteBatch(pkts)
		at += len(pkts)
	}
	o.n, o.used = 0, 0
}

// drop drops the packets of the turn.
func (o *outbound) drop() { o.n, o.used, o.cast, o.challenges.n = 0, 0, nil, 0 }

// together returns how many packets leave by one system call. The kernel handles a train of
// packets to one address as one. Otherwise packets leave in up to stampsPerTurn calls, one
// by one if those are enough, so that their stamps bound the delays well.
func (o *outbound) together() int {
	if o.bulk && o.crowded() {
		return o.n
	}
	return (o.n + stampsPerTurn - 1) / stampsPerTurn
}

// keepalivesAt returns how many quiet keepalives leave together, from a packet on.
func (o *outbound) keepalivesAt(at int) (n int) {
	for n < keepalivesPerStamp && at+n < o.n && o.keepalives[at+n] {
		n++
	}
	return n
}

// crowded reports whether an address gets several packets, or there are many.
func (o *outbound) crowded() bool {
	if o.n > stampsPerTurn {
		return true
	}
	for i := range o.pkts[:o.n] {
		for j := range o.pkts[:i] {
			if o.pkts[i].Addr == o.pkts[j].Addr {
				return true
			}
		}
	}
	return false
}
