package loop

import (
	"net/netip"

	"github.com/failaware/failaware/internal/introduce"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// takeMembers takes the members that a peer introduces, and the peer's labels, if the packet
// that was just handled has any.
func (d *driver) takeMembers(from netip.AddrPort) {
	p := &d.in.packet
	if p.Has(wire.FrameLabels) {
		d.l.labels[p.Header.Source].Store(p.Labels)
	}
	if !p.Has(wire.FrameMembers) {
		return
	}
	members := p.Members[:0]
	for _, m := range p.Members {
		if d.mayGreet(m.Addr.Addr(), from.Addr()) && !d.routes.gone.introduced(&m) && !d.routes.leadTo(&m) {
			members = append(members, m)
		}
	}
	d.introductions.HandleMembers(d.clock.now, members)
}

// mayGreet reports whether a member at an address that a peer introduces can be reached:
// it is allowed, of the socket's family, and no loopback address of another host.
func (d *driver) mayGreet(a, from netip.Addr) bool {
	local := d.l.cfg.Conn.LocalAddr().Addr()
	switch {
	case a.Is6() && local.Is4(), a.Is4() && local.Is6() && !local.IsUnspecified():
		return false
	case a.IsLoopback():
		return from.IsLoopback()
	}
	return d.l.cfg.Insecure || d.l.cfg.Ring != nil
}

// introduce tells peers of each other, and greets the members that others introduced.
func (d *driver) introduce() {
	now, m := d.clock.now, d.introductions
	m.SetAlive(now, d.stack.Datagram().Alive(now))
	d.takeCandidates()
	if now < m.Deadline() {
		return
	}
	d.introduced = m.HandleTimeout(now, d.introduced[:0])
	for i := range d.introduced {
		switch e := &d.introduced[i]; e.Kind {
		case introduce.Introduce:
			d.tell(e.Peer, e.Members)
		case introduce.Greet:
			if e.Peer == timed.NoNode && e.Addr != d.l.cfg.Conn.LocalAddr() {
				e.Peer = d.routes.destination(e.Addr)
			}
			if e.Peer != timed.NoNode {
				d.greetAt(e.Peer, e.Addr)
			}
		}
	}
}

// greetAt sends bare packets to an address at which a node of any build may be: one in the
// newest version of the wire format and one in the oldest. Most builds speak both. The
// answer has no more bytes than have come, so two packets also leave room for a longer
// one.
func (d *driver) greetAt(id timed.NodeID, addr netip.AddrPort) {
	for _, version := range [...]uint8{wire.Version, wire.Oldest} {
		p := d.greeting(version, id)
		_ = d.out.add(&p, addr, &d.count)
	}
}

// greeting returns a packet to a node, in a version of the wire format, for an address
// other than the one that packets to the node go to. It says whether this node leads, as
// all packets do: the node may know this one, and then believes it.
func (d *driver) greeting(version uint8, id timed.NodeID) wire.Packet {
	p := hello(&d.cfg, version, id, d.clock.now)
	d.stack.Election().FillState(d.clock.now, &p.State)
	return p
}

// tell introduces members to a peer: those whose address has shown that it receives and
// can be reached by the peer.
func (d *driver) tell(peer timed.NodeID, members timed.Set) {
	to := &d.routes.to[peer]
	var list []wire.Member
	for id := range members.All() {
		a := d.routes.to[id].Addr
		if d.routes.to[id].Proved && a.IsValid() && (!a.Addr().IsLoopback() || to.Addr.Addr().IsLoopback()) {
			list = append(list, wire.Member{Node: id, Addr: introducible(a)})
		}
	}
	frames := wire.FrameLabels // with the first ones
	for frames != 0 || len(list) > 0 {
		n := min(len(list), wire.MaxMembers)
		if n > 0 {
			frames |= wire.FrameMembers
		}
		d.tellSome(peer, frames, list[:n])
		frames, list = 0, list[n:]
	}
}

// introducible returns an address in the form of introductions: without a zone, and an IPv4
// address never mapped to IPv6.
func introducible(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// tellSome introduces this node, members, or both, by a keepalive. A packet that carries
// more, such as any packet of a broadcast, has no room for introductions: they follow in
// another one.
func (d *driver) tellSome(peer timed.NodeID, frames wire.Frames, members []wire.Member) {
	effects := d.stack.SendKeepalive(d.clock.now, peer, d.effects[:0])
	for i := range effects {
		e := &effects[i]
		if e.Kind != stack.Send || e.Peer != peer {
			continue
		}
		p := e.Packet
		if p.Frames != 0 {
			bare := p.Bare()
			p = &bare
			effects = append(effects, stack.Effect{Kind: stack.Send, Peer: peer, Packet: p})
		}
		p.Frames, p.Members, p.Labels = frames, members, &d.l.cfg.Labels
		break
	}
	d.perform(effects)
}
