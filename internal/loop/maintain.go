package loop

import (
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

const cleanEvery = 10 * time.Second // between two looks at learnt peers

// forgetAfter returns the silence after which a learnt peer is forgotten. Peers that
// list this node will be learnt again.
func forgetAfter(t *timed.Timing) time.Duration { return time.Minute + 60*t.Expires }

// takePeers adopts a new list of peers, if there is one.
func (d *driver) takePeers() {
	list := d.l.cfg.Peers.List()
	if list == d.routes.list {
		return
	}
	added, removed := d.routes.take(list, d.pub.current.Alive, d.clock.now)
	if d.stack == nil {
		return
	}
	for id := range removed.All() {
		d.stack.RemovePeer(d.clock.now, id)
	}
	for id := range added.All() {
		d.stack.AddPeer(d.clock.now, id)
	}
}

// maintainRoutes says hello to strangers, asks a rival whether it lives, and forgets learnt
// peers that are silent, when either is due.
func (d *driver) maintainRoutes() {
	r, now := &d.routes, d.clock.now
	if r.alive != d.pub.current.Alive {
		if r.alive = d.pub.current.Alive; !r.alive.Empty() {
			d.rivalry.duel.NoteCompany()
		}
		d.forgetGone()
	}
	if d.stack != nil && now >= r.hello && len(r.strangers) > 0 {
		r.hello = now.Add(4 * d.cfg.Timing.KeepalivePeriod)
		d.greetStrangers()
	}
	if d.stack != nil && d.rivalry.duel.Open(&d.cfg.Timing, now) {
		d.answerRival()
	}
	if now >= r.cleanup {
		r.cleanup = now.Add(cleanEvery)
		d.warnOfLength()
		r.book.Forget(now.Add(-forgetAfter(&d.cfg.Timing)))
		for id := range r.silent(now, forgetAfter(&d.cfg.Timing)).All() {
			r.remove(id)
			if d.stack != nil {
				d.stack.RemovePeer(d.clock.now, id)
			}
		}
	}
}

// warnOfLength warns of packets that a network interface refuses because they are too long: the
// messages of the broadcast are lost, while the shorter packets that make leaders and views pass.
func (d *driver) warnOfLength() {
	n := d.l.cfg.Conn.Stats().Get("send_emsgsize")
	if n > d.count.tooLong {
		d.l.cfg.Sink.Warn("packets were not sent because they are too long for the network: MaxPacket must be less than the MTU by 28 bytes, by 48 with IPv6",
			"packets", n-d.count.tooLong, "maxpacket", d.l.cfg.MaxPacket)
	}
	d.count.tooLong = n
}

// greetStrangers greets each listed address whose node is still to be found.
func (d *driver) greetStrangers() {
	to := d.routes.unused()
	if to == timed.NoNode {
		return
	}
	for _, e := range d.routes.strangers {
		if d.routes.searching(e, d.pub.current.Alive) {
			d.greetAt(to, e.Addr)
		}
	}
}

// hello returns the packet, in a version of the wire format, to a node whose id is not known.
func hello(cfg *stack.Config, version uint8, to timed.NodeID, now timed.Instant) wire.Packet {
	return wire.Packet{
		MaxDrift: cfg.Timing.MaxDrift, FastThreshold: cfg.Timing.FastThreshold,
		Header: datagram.Header{Version: version, Group: cfg.Says(), Source: cfg.Self.Node,
			Destination: to, Boot: cfg.Self.Boot, Stamp: now, Echo: datagram.Echo{Heard: datagram.NotHeard}},
	}
}
