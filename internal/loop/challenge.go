package loop

import (
	"net/netip"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// challenges are the packets of a turn to addresses that have not shown that they
// receive. Each leaves by itself, with a stamp of its own.
type challenges struct {
	pkts []udp.Packet   // the first n are to be sent; the others keep buffers
	to   []timed.NodeID // the nodes that the first n are for
	n    int
}

// sendTo adds a packet to the packets of the turn. An address that has not shown that it
// receives gets only the head of the packet.
func (d *driver) sendTo(p *wire.Packet, to netip.AddrPort, proved bool) {
	if proved {
		d.send(p, to)
		return
	}
	bare := p.Bare()
	d.challenge(&bare, to, p.Header.Destination)
}

// sendBack answers the packet that is being handled.
func (d *driver) sendBack(p *wire.Packet) {
	to := d.out.origin
	if d.routes.to[p.Header.Destination].Trusts(to) || d.routes.unclaimed(to) || d.routes.book.Proved(p.Header.Destination, to) {
		d.send(p, to)
		return
	}
	d.challenge(p, to, p.Header.Destination)
}

// challenge adds a packet for a node to an address that has not shown that it receives,
// unless the address would get more bytes than came from there in the node's name.
func (d *driver) challenge(p *wire.Packet, to netip.AddrPort, node timed.NodeID) {
	o := &d.out.challenges
	if !to.IsValid() {
		d.count.unresolved++
		return
	}
	if o.n == len(o.pkts) {
		o.pkts = append(o.pkts, udp.Packet{})
	}
	p.Header.Suite, d.out.encoder.Room = d.out.suiteFor(0)
	b, err := d.out.encoder.AppendBefore(o.pkts[o.n].Buf[:0], p, nil)
	switch {
	case err != nil:
		d.count.unencoded++
		d.unsendable(p, err)
		return
	case !d.routes.book.Spend(node, to, len(b)+d.out.overhead()):
		d.count.unproved++
		return
	}
	o.pkts[o.n] = udp.Packet{Buf: b, N: len(b), Addr: to}
	o.to = append(o.to[:o.n], node)
	o.n++
}

// maxEarly bounds how much earlier than its departure the stamp of a challenge is, in
// nanoseconds. An early stamp loosens the bound of the delay.
const maxEarly = 1 << 16

// sendChallenges sends the challenges of a turn. No other address sees their stamps, or can
// guess them from the stamps of other packets.
func (d *driver) sendChallenges() {
	o, c := &d.out, &d.out.challenges
	for i := range c.pkts[:c.n] {
		o.draw()
		stamp := max(d.l.cfg.Clock.Now()-timed.Instant(1+o.random()%maxEarly), 1)
		o.finish(&c.pkts[i], nil, stamp)
		d.routes.book.NoteChallenge(c.to[i], c.pkts[i].Addr, stamp)
		_, _ = d.l.cfg.Conn.WriteBatch(c.pkts[i : i+1])
	}
	c.n = 0
}
