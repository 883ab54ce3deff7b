package loop

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

const batch = 64 // how many packets are read at once

// inbound is the memory that packets are read and decoded into.
type inbound struct {
	pkts    []udp.Packet
	decoder wire.Decoder
	packet  wire.Packet
}

// receive handles the packets of a turn, as one batch for the stack.
func (d *driver) receive(pkts []udp.Packet) {
	if d.stack == nil {
		d.count.early += uint64(len(pkts))
		return
	}
	for i := range pkts {
		if d.life.Over() || d.life.Blamed() != life.None {
			return
		}
		why := d.handle(&pkts[i], i == len(pkts)-1)
		d.mismatches.pass(pkts[i].Addr, why)
		version, key := wire.Claims(pkts[i].Buf[:pkts[i].N])
		d.routes.refuse(pkts[i].Addr, refusal{why, d.clock.now, version, seal.KeyID(key)})
	}
}

// handle decodes one packet and hands it to the stack. It returns why the packet does not
// count, or "" if it does. If the last packet of a batch does not reach the stack, the
// turn's look at the timers ends the batch.
func (d *driver) handle(pkt *udp.Packet, last bool) (refused string) {
	h, refused := d.decode(pkt)
	if refused != "" {
		return refused
	}
	self, now := d.cfg.Self, d.clock.now
	proved := d.routes.prove(&h, pkt, self.Boot, now)
	if h.Source == self.Node && h.Boot != self.Boot {
		d.count.foreign++ // the peers keep one of the two
		d.handleRival(&h, pkt.Addr)
		return refusedOwnID
	}
	// Nodes with other settings are learnt as well: they find that out from the
	// packets sent to them.
	if d.routes.gone.left(&h) && !d.routes.known.Has(h.Source) {
		return refusedLeft
	}
	added, full := d.routes.learn(h.Source, pkt.Addr, proved, now)
	if added {
		d.stack.AddPeer(now, h.Source)
	}
	if full {
		d.count.tooMany++
	}
	if h.Source == self.Node {
		return refusedOther // its own greeting, to an address of this node
	}
	if h.Destination != self.Node {
		if !d.routes.greets(h.Source, pkt.Addr) {
			d.count.foreign++
			d.answerGreeting(&h, pkt.Addr)
		}
		return refusedOther
	}
	d.out.origin = pkt.Addr
	handle := d.stack.HandleBatched
	if last {
		handle = d.stack.HandlePacket
	}
	// The socket promises received ≤ now, and the stack relies on it.
	d.perform(handle(now, timed.Earlier(pkt.Received, now), &d.in.packet, d.effects[:0]))
	kind, delay := d.stack.LastPacket()
	d.judgeClaim(kind)
	if !d.in.packet.SameModel(&d.cfg.Timing) {
		d.answerModel(&h, pkt)
	}
	if kind == datagram.Delivered {
		d.delivered(h.Source, delay)
	}
	if kind == datagram.Accepted {
		d.mismatches.forget(h.Source)
	}
	if kind == datagram.Delivered || kind == datagram.Accepted {
		d.takeMembers(pkt.Addr)
	}
	if d.routes.known.Has(h.Source) {
		d.routes.follow(&h, pkt.Addr, proved, kind, now, 2*d.cfg.Timing.Expires)
	}
	return d.refusalOf(kind, &d.in.packet)
}

// delivered takes note of a packet of an accepted incarnation.
func (d *driver) delivered(from timed.NodeID, delay datagram.Delay) {
	d.measure(from, delay)
	d.noteVotes(&d.in.packet)
}

// measure counts a packet of an accepted incarnation.
func (d *driver) measure(from timed.NodeID, delay datagram.Delay) {
	r := &d.routes.to[from]
	if delay.Fast {
		r.fast++
	} else {
		r.slow++
	}
	if delay.Bound != datagram.Unknown {
		d.delays.Note(delay.Bound)
	}
}

// decode checks the bytes of a packet, cheapest test first, and decodes them into
// d.in.packet. It returns why the packet is refused, or "".
func (d *driver) decode(pkt *udp.Packet) (h datagram.Header, refused string) {
	h, _, err := wire.ParseHeader(pkt.Buf[:pkt.N])
	switch {
	case err == wire.ErrVersion:
		d.count.version++
		return h, refusedVersion
	case err != nil:
		d.count.malformed++
		return h, refusedMalformed
	case !d.cfg.Hears(h.Group):
		d.count.foreign++
		d.noteGroup(pkt, &h)
		if d.cfg.OrderByEpoch {
			return h, refusedEpoch
		}
		return h, refusedSettings
	}
	frames, refused := d.open(pkt, &h)
	if refused != "" {
		return h, refused
	}
	if err := d.in.decoder.DecodeFrames(h, frames, &d.in.packet); err != nil {
		d.count.malformed++
		return h, refusedMalformed
	}
	if d.in.packet.Settings != nil {
		d.takeSettings(&h, pkt)
		return h, refusedSettings
	}
	return h, ""
}
