package exhaust

import (
	"cmp"
	"slices"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// message is a packet that was sent. It is immutable.
type message struct {
	packet wire.Packet
	sent   int64          // the tick
	shown  clocksync.Time // the reading of the line that it carries, if any, at the stamp
	hash   digest
}

// flight is a message on its way.
type flight struct {
	*message
	arrives int64 // the tick
}

// order sorts flights in the order in which they arrive, and those that arrive
// together in an order that depends on the messages alone.
func (f flight) order(g flight) int {
	return cmp.Or(cmp.Compare(f.arrives, g.arrives),
		cmp.Compare(f.packet.Header.Destination, g.packet.Header.Destination),
		cmp.Compare(f.packet.Header.Source, g.packet.Header.Source),
		cmp.Compare(f.sent, g.sent), slices.Compare(f.hash[:], g.hash[:]))
}

// press makes the images of packets.
type press struct {
	packet wire.Packet
	layout layout
}

func newPress(nodes int) *press {
	p := &press{}
	p.layout = layoutOf(&p.packet, nodes)
	return p
}

// message returns a packet as it leaves, without fields that no frame carries.
func (p *press) message(q *wire.Packet, sent int64, clocks []timed.Instant) *message {
	m := &message{sent: sent}
	m.packet = *q
	c := &m.packet
	if !c.Has(wire.FrameInUse) {
		c.InUse, c.InUseAge = 0, 0
	}
	if !c.Has(wire.FrameUsed) {
		c.Used = timed.Set{}
	}
	if !c.Has(wire.FrameRelease) {
		c.Release = 0
	}
	if !c.Has(wire.FrameResign) {
		c.Resign = wire.Packet{}.Resign
	}
	if !c.Has(wire.FrameDropped) {
		c.Dropped = wire.Packet{}.Dropped
	}
	if !c.Has(wire.FrameRequest) {
		c.Request, c.Part = wire.Packet{}.Request, wire.Packet{}.Part
	}
	if !c.Has(wire.FrameReply) {
		c.Reply, c.Report = wire.Packet{}.Reply, wire.Packet{}.Report
	}
	if !c.Has(wire.FrameLine) {
		c.Line = clocksync.Line{}
	} else if c.Line.Rate == 0 { // the same line, given by its point at the stamp
		c.Line.Shown += clocksync.Time(c.Header.Stamp - c.Line.Base)
		c.Line.Base = c.Header.Stamp
		m.shown = c.Line.Shown
	}
	p.packet = *c
	for i := range p.layout.fields {
		p.layout.fields[i].node = c.Header.Destination
	}
	img := image{shown: m.shown}
	img.take(&p.layout, c.Header.Source, clocks)
	m.hash = img.hash
	return m
}
