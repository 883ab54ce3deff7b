package loop

import (
	"net/netip"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/claim"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// rivalry is what a loop knows of other processes with its id.
type rivalry struct {
	last     datagram.Header // of the last packet of one
	from     netip.AddrPort  // from where it came
	at       timed.Instant   // when
	answered timed.Instant   // when it was last answered
	told     timed.BootID    // the last one that an event has told of
	duel     claim.Duel
}

// handleRival takes an authentic packet of another process with this node's id. A node that
// claims the id gives it up. Another one answers, so that the sender learns of it.
func (d *driver) handleRival(h *datagram.Header, from netip.AddrPort) {
	r, now, t := &d.rivalry, d.clock.now, &d.cfg.Timing
	r.last, r.from, r.at = *h, from, now
	if m := d.claims.machine; m != nil {
		m.NoteRival()
		return
	}
	if h.Echo.Boot == d.cfg.Self.Boot && h.Echo.Latest <= now && now.Sub(h.Echo.Latest) <= t.Expires { // it is no late packet
		alone := d.pub.current.Alive.Empty()
		if r.duel.NoteRival(t, now, d.cfg.Self.Boot, h.Boot, alone) {
			d.giveWay(h.Boot)
			return
		}
		if r.told != h.Boot {
			r.told, d.out.origin = h.Boot, from
			d.note(&stack.Event{Kind: stack.EventRival, Peer: d.cfg.Self.Node, Boot: h.Boot})
		}
		if alone {
			// maintainRoutes asks in a period: a rival that has just sent something would not
			// answer now, and the packet would have used up what may be sent there.
			r.answered = now
			return
		}
	}
	d.answerRival()
}

// answerRival sends a packet to the other process with this node's id, unless one was just
// sent. It repeats the stamp of the last packet from there, and so shows that it is not a
// late packet.
func (d *driver) answerRival() {
	r, now := &d.rivalry, d.clock.now
	if now.Sub(r.answered) < d.cfg.Timing.KeepalivePeriod {
		return
	}
	r.answered = now
	h := &r.last
	p := hello(&d.cfg, h.Version, d.routes.unused(), now)
	p.Header.Echo = datagram.Echo{Boot: h.Boot, Sent: h.Stamp, Received: r.at, Latest: h.Stamp, Heard: datagram.NotHeard}
	if d.routes.unclaimed(r.from) { // it is listed, and so not in the book
		d.send(&p, r.from)
		return
	}
	d.challenge(&p, r.from, d.cfg.Self.Node)
}

// giveWay ends the node: the id is another process's.
func (d *driver) giveWay(rival timed.BootID) {
	e := &DuplicateIDError{Boot: d.cfg.Self.Boot, Rival: rival}
	if rival == d.rivalry.last.Boot {
		e.Addr = d.rivalry.from
	}
	d.fail(e, false)
}
