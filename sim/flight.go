package sim

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
)

// flight is a packet on its way.
type flight struct {
	packet    wire.Packet
	sent      int64 // true time
	from      int32 // index of the sender, or nobody
	source    int32 // the address that it seems to come from, where addresses matter
	payload   []byte
	broadcast *broadcastCopy // memory of the slot, for any packet in it
	collated  *wire.Collated // likewise
}

// nobody is the sender of forged packets.
const nobody = -1

// broadcastCopy is the broadcast part of a packet in flight. The original is valid only
// until the sender's next turn. Flights reuse the memory.
type broadcastCopy struct {
	packet broadcast.Packet
	bytes  []byte
}

// detach moves the parts of the packet that share the sender's memory, its broadcast and its
// collated replies, into the flight's own memory, unless they are there.
func (f *flight) detach() {
	if f.packet.Has(wire.FrameBroadcast) {
		if f.broadcast == nil {
			f.broadcast = new(broadcastCopy)
		}
		if f.packet.Broadcast != &f.broadcast.packet {
			f.packet.Broadcast = f.broadcast.copyFrom(f.packet.Broadcast)
		}
	}
	if f.packet.Has(wire.FrameCollated) {
		if f.collated == nil {
			f.collated = new(wire.Collated)
		}
		if f.packet.Collated != f.collated {
			f.packet.Collated.CopyTo(f.collated)
			f.packet.Collated = f.collated
		}
	}
}

// copyFrom copies a packet. Reports, plans and commits are shared: they are immutable, and
// receivers keep them.
func (c *broadcastCopy) copyFrom(p *broadcast.Packet) *broadcast.Packet {
	q := &c.packet
	q.Reset()
	q.Header, q.Log, q.Done = p.Header, p.Log, p.Done
	q.Report, q.Plan, q.Commit = p.Report, p.Plan, p.Commit
	q.Wants = append(q.Wants, p.Wants...)
	c.bytes = c.bytes[:0]
	for i := range p.Runs {
		r := p.Runs[i]
		if r.Sizes != nil {
			r.Sizes = q.Lengths(len(r.Sizes))
			copy(r.Sizes, p.Runs[i].Sizes)
		}
		at := len(c.bytes)
		c.bytes = append(c.bytes, r.Payload...)
		r.Payload = c.bytes[at:len(c.bytes):len(c.bytes)]
		q.Runs = append(q.Runs, r)
	}
	for i := range p.Decisions {
		d := p.Decisions[i]
		d.Ranges = q.Ranges(len(d.Ranges))
		copy(d.Ranges, p.Decisions[i].Ranges)
		q.Decisions = append(q.Decisions, d)
	}
	return q
}

// copy returns a slot with the same packet.
func (w *World) copy(slot int32) int32 {
	again := w.take()
	f := w.slots[again]
	cargo, basket := f.broadcast, f.collated
	*f = *w.slots[slot]
	f.broadcast, f.collated = cargo, basket
	f.detach()
	return again
}

// carriesDecision reports whether the packet has a decision.
func (f *flight) carriesDecision() bool {
	return f.packet.Has(wire.FrameBroadcast) && len(f.packet.Broadcast.Decisions) > 0
}
