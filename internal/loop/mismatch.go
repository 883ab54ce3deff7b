package loop

import (
	"net/netip"
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

const (
	// mismatchPeriod is the shortest time between two events about the same settings of
	// a peer, and how long a mismatch stays in the peer's status after its last packet.
	mismatchPeriod = time.Minute
	// changePeriod is the shortest time between two events about a peer. Anybody can
	// send packets with ever other settings.
	changePeriod = time.Second
)

// Settings are the settings of a peer as its packets carry them. MaxDrift and
// FastThreshold are 0 if Group is not this node's.
type Settings struct {
	Group         uint64 // the digest
	MaxDrift      timed.Drift
	FastThreshold time.Duration
}

// mismatches are the peers whose settings differ from this node's. There is at most
// one for each id.
type mismatches map[timed.NodeID]*mismatch

type mismatch struct {
	settings        Settings // as reported
	from            netip.AddrPort
	heard, reported timed.Instant
	answered        timed.Instant
}

// fresh reports whether an event about the settings is not due yet.
func (m *mismatch) fresh(s Settings, now timed.Instant) bool {
	age := now.Sub(m.reported)
	return age < changePeriod || m.settings == s && age < mismatchPeriod
}

// of returns the settings of a peer that has the id or sends from the address, or nil.
func (l mismatches) of(id timed.NodeID, addr netip.AddrPort, now timed.Instant) *Settings {
	if m := l[id]; m != nil && now.Sub(m.heard) <= mismatchPeriod {
		s := m.settings
		return &s
	}
	return l.at(addr, now)
}

// at returns the settings of a peer that sends from the address, or nil.
func (l mismatches) at(addr netip.AddrPort, now timed.Instant) *Settings {
	for _, m := range l {
		if m.from == addr && now.Sub(m.heard) <= mismatchPeriod {
			s := m.settings
			return &s
		}
	}
	return nil
}

// forget forgets a peer whose settings agree now.
func (l mismatches) forget(id timed.NodeID) { delete(l, id) }

// noteGroup notes a packet of another group. A damaged or forged packet must not accuse
// a peer.
func (d *driver) noteGroup(pkt *udp.Packet, h *datagram.Header) {
	if d.authentic(pkt, h) {
		d.noteMismatch(h.Source, Settings{Group: h.Group}, pkt.Addr)
		d.answerMismatch(h, pkt)
	}
}

// answerMismatch lets a node of another group that this node does not know hear of it, so
// that it can name the difference too. It gets no more bytes than came from there.
func (d *driver) answerMismatch(h *datagram.Header, pkt *udp.Packet) {
	now, m := d.clock.now, d.mismatches[h.Source]
	if d.routes.known.Has(h.Source) || h.Source == d.cfg.Self.Node || now.Sub(m.answered) < d.cfg.Timing.KeepalivePeriod {
		return
	}
	m.answered = now
	d.routes.prove(h, pkt, d.cfg.Self.Boot, now)
	p := hello(&d.cfg, h.Version, h.Source, now)
	d.challenge(&p, pkt.Addr, h.Source)
}

// noteMismatch notes a packet that was dropped because of the settings of its sender.
// It never ends the node: anybody can send such a packet.
func (d *driver) noteMismatch(id timed.NodeID, s Settings, from netip.AddrPort) {
	now, m := d.clock.now, d.mismatches[id]
	if m != nil && m.fresh(s, now) {
		m.heard = now
		return
	}
	if d.mismatches == nil {
		d.mismatches = mismatches{}
	}
	if m == nil {
		m = &mismatch{answered: now.Add(-d.cfg.Timing.KeepalivePeriod)}
		d.mismatches[id] = m
	}
	m.settings, m.from, m.heard, m.reported = s, from, now, now
	d.report.events = append(d.report.events, stack.Event{Kind: stack.EventMismatch, Peer: id,
		Group: s.Group, MaxDrift: s.MaxDrift, FastThreshold: s.FastThreshold, Text: from.String()})
}
