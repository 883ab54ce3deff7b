package loop

import (
	"net/netip"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// takeCandidates adopts other candidates, if there are any.
func (d *driver) takeCandidates() {
	if found := d.l.cfg.Join.Found(); found != d.candidates {
		d.candidates = found
		d.introductions.HandleCandidates(d.clock.now, found.Addrs)
	}
}

// destination returns the destination of a greeting to a candidate: while the node at the
// address is unknown, an id that no node has. It returns NoNode if no node at the address
// needs a greeting.
func (r *routes) destination(addr netip.AddrPort) timed.NodeID {
	for id := range r.known.All() {
		switch t := &r.to[id]; {
		case t.Addr != addr:
		case t.Proved:
			return timed.NoNode
		default:
			return id
		}
	}
	return r.unused()
}

// meet learns the sender of a packet to a multicast group. All nodes hear the same packet,
// and each answers as it answers any unknown sender: with no more bytes than it received.
func (d *driver) meet(pkt *udp.Packet) {
	if d.stack == nil {
		return
	}
	h, refused := d.decode(pkt)
	if refused != "" || h.Source == d.cfg.Self.Node || d.routes.known.Has(h.Source) && d.routes.to[h.Source].Proved {
		return
	}
	proved := d.routes.prove(&h, pkt, d.cfg.Self.Boot, d.clock.now)
	if added, _ := d.routes.learn(h.Source, pkt.Addr, proved, d.clock.now); added {
		d.stack.AddPeer(d.clock.now, h.Source)
	}
}
