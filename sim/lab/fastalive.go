package lab

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// FastAlive is the platform's own detector: the alive set of its fail-aware datagrams. A
// process is alive if a recent message from it had a delay of provably at most Δ, and says
// that it hears this process as fast.
type FastAlive struct {
	self    timed.Incarnation
	service *datagram.Service
	effects []datagram.Effect
	counter uint64
	all     timed.Set
	patient timed.Instant
}

// NewFastAlive returns the detector of one incarnation. It suspects no process for the first
// Expires.
func NewFastAlive(self timed.Incarnation, all timed.Set, t timed.Timing, now timed.Instant) *FastAlive {
	d := &FastAlive{self: self, service: datagram.New(datagram.Config{Self: self, Timing: t}, now), all: all, patient: now.Add(t.Expires)}
	for id := range all.Without(self.Node).All() {
		d.service.AddPeer(now, id)
	}
	d.service.SetReady()
	return d
}

// HandleMessage implements [Detector].
func (d *FastAlive) HandleMessage(now timed.Instant, from timed.NodeID, m *Message, out []Effect) []Effect {
	if m.Kind == Keepalive && m.Header.Source == from && m.Header.Destination == d.self.Node {
		d.effects = d.service.HandlePacket(now, &m.Header, d.effects[:0])
	}
	return out
}

// HandleTimeout implements [Detector].
func (d *FastAlive) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	for id := range d.service.KeepalivesDue(now, false).All() {
		d.counter++
		m := Message{Kind: Keepalive, Header: datagram.Header{Version: wire.Version, Group: 1, Source: d.self.Node, Destination: id,
			Boot: d.self.Boot, Counter: d.counter, Stamp: now}}
		d.service.FillEcho(now, &m.Header)
		d.service.NoteSent(now, id)
		out = append(out, Effect{id, m})
	}
	return out
}

// Deadline implements [Detector].
func (d *FastAlive) Deadline() timed.Instant { return d.service.Deadline() }

// Alive implements [Detector].
func (d *FastAlive) Alive(now timed.Instant) timed.Set {
	if now < d.patient {
		return d.all
	}
	return d.service.Alive(now).With(d.self.Node)
}
