package loop

import (
	"net/netip"
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// Nodes whose packets show that their settings differ tell each other the values, for the
// events and the status. Nothing else rests on the values, because they may be lost or
// forged, and earlier builds never send them. Without them, the event has only the values
// that every packet shows.

// maxAsked is how many times a node sends its settings, a keepalive period apart, to one
// that does not answer with its own. After that it sends them changePeriod apart.
const maxAsked = 4

// patience is how long an event waits for the settings of the peer.
func (d *driver) patience() time.Duration { return maxAsked * d.cfg.Timing.KeepalivePeriod }

// exchange says when a node was told this node's settings.
type exchange struct {
	told     timed.Instant // 0: never
	attempts int
}

// asks reports whether this node sends its settings now to a node whose own are not known,
// and counts the attempt.
func (x *exchange) asks(now timed.Instant, period time.Duration) bool {
	if x.attempts >= maxAsked {
		period = max(period, changePeriod)
	}
	if !x.may(now, period) {
		return false
	}
	x.attempts++
	return true
}

// may reports whether settings were told long enough ago.
func (x *exchange) may(now timed.Instant, period time.Duration) bool {
	return x.told == 0 || now.Sub(x.told) >= period
}

// tellSettings tells the sender of a packet this node's settings, once a keepalive period. An
// address that has not shown that it receives gets no more bytes than came from there.
func (d *driver) tellSettings(x *exchange, h *datagram.Header, to netip.AddrPort, proved bool) {
	now := d.clock.now
	if d.stack == nil || !x.may(now, d.cfg.Timing.KeepalivePeriod) {
		return
	}
	x.told = now
	p := wire.Packet{Header: hello(&d.cfg, h.Version, h.Source, now).Header, Settings: d.settings()}
	if proved {
		d.send(&p, to)
		return
	}
	d.challenge(&p, to, h.Source)
}

// settings returns this node's settings, with the quorum system in use.
func (d *driver) settings() *wire.Settings {
	s := d.l.cfg.Settings
	s.Quorum = d.stack.Election().QuorumID()
	if e := d.pub.current.Epoch; e != nil {
		s.System = e.System
	}
	s.System = wire.CutSystem(s.System)
	return &s
}

// quorums holds the peers with another quorum system, as their votes or their settings
// show.
type quorums map[timed.NodeID]*otherQuorum

type otherQuorum struct {
	event    stack.Event   // given, unless it waits
	at       timed.Instant // when it was given
	since    timed.Instant // since when it waits for the peer's settings; 0: none waits
	theirs   wire.Settings
	exchange exchange
}

func (d *driver) quorumOf(id timed.NodeID) *otherQuorum {
	if d.quorums == nil {
		d.quorums = quorums{}
	}
	q := d.quorums[id]
	if q == nil {
		q = new(otherQuorum)
		d.quorums[id] = q
	}
	return q
}

// noteQuorum takes the event that a peer has another quorum system.
func (d *driver) noteQuorum(e *stack.Event) {
	q := d.quorumOf(e.Peer)
	q.event, q.since, q.exchange.attempts = *e, d.clock.now, 0
	d.askQuorum(e.Peer, q)
}

// askQuorum reports the event that waits once the settings of the peer are known, or have
// not come in time. Until then it sends this node's settings, by which the peer learns of
// the difference too.
func (d *driver) askQuorum(id timed.NodeID, q *otherQuorum) {
	now, t := d.clock.now, &d.routes.to[id]
	switch {
	case q.theirs.Known() && q.theirs.Quorum == q.event.Quorum:
		theirs := q.theirs
		q.event.Settings = &theirs
	case now.Sub(q.since) < d.patience():
		if t.Proved && q.exchange.asks(now, d.cfg.Timing.KeepalivePeriod) {
			d.tellSettings(&q.exchange, &datagram.Header{Version: wire.Oldest, Source: id}, t.Addr, true)
		}
		d.lookSoon()
		return
	}
	q.since, q.at = 0, now
	d.report.events = append(d.report.events, q.event)
	d.lookBy(now.Add(mismatchPeriod))
}

// repeatQuorum gives the event again, once in mismatchPeriod while the peer is alive and votes
// for another system: who counts events sees that it lasts.
func (d *driver) repeatQuorum(id timed.NodeID, q *otherQuorum) {
	if d.stack == nil || !d.stack.Election().Foreign(id) {
		return
	}
	switch due := q.at.Add(mismatchPeriod); {
	case d.clock.now < due:
	case !d.pub.current.Alive.Has(id):
		d.lookSoon() // it may come back at any time
		return
	default:
		q.at = d.clock.now
		d.report.events = append(d.report.events, q.event)
	}
	d.lookBy(q.at.Add(mismatchPeriod))
}

// takeSettings takes the settings of a node of this group, and answers with this node's if the
// quorum systems differ.
func (d *driver) takeSettings(h *datagram.Header, pkt *udp.Packet) {
	s := d.in.packet.Settings
	if h.Source == d.cfg.Self.Node || h.Destination != d.cfg.Self.Node || !d.routes.to[h.Source].Trusts(pkt.Addr) || s.Quorum == d.stack.Election().QuorumID() {
		return
	}
	q := d.quorumOf(h.Source)
	q.theirs = *s
	if q.since != 0 {
		d.askQuorum(h.Source, q)
	}
	d.tellSettings(&q.exchange, h, pkt.Addr, true)
}

// lookSoon schedules the next look at the events that wait for settings, in a keepalive
// period at the latest.
func (d *driver) lookSoon() { d.lookBy(d.clock.now.Add(d.cfg.Timing.KeepalivePeriod)) }

// lookBy schedules the next look at an instant at the latest.
func (d *driver) lookBy(at timed.Instant) {
	if d.nextLook == 0 || at < d.nextLook {
		d.nextLook = at
	}
}

// lookAtWaiting looks at the events that wait for settings.
func (d *driver) lookAtWaiting() {
	if d.nextLook == 0 || d.clock.now < d.nextLook {
		return
	}
	d.nextLook = 0
	for id := range idsOf(d.mismatches).All() {
		d.reportMismatch(id, d.mismatches[id])
	}
	for id := range idsOf(d.quorums).All() {
		if q := d.quorums[id]; q.since != 0 {
			d.askQuorum(id, q)
		} else {
			d.repeatQuorum(id, q)
		}
	}
}

// idsOf returns the peers that have an entry.
func idsOf[T any](m map[timed.NodeID]T) (ids timed.Set) {
	for id := range m {
		ids.Add(id)
	}
	return ids
}
