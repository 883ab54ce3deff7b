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

const (
	// mismatchPeriod is the shortest time between two events about the same settings of
	// a peer, and how long a mismatch stays in the peer's status after its last packet.
	mismatchPeriod = time.Minute
	// changePeriod is the shortest time between two events about a peer, because anybody can
	// send packets with different settings again and again.
	changePeriod = time.Second
)

// Settings are the settings of a peer as its packets carry them. MaxDrift and
// FastThreshold are 0 if Group is not this node's.
type Settings struct {
	Group         uint64 // the digest
	MaxDrift      timed.Drift
	FastThreshold time.Duration
	Told          wire.Settings // what a peer of another group has said of itself
}

// named reports whether a node of a group knows all values.
func (s *Settings) named(group uint64) bool { return s.Group == group || s.Told.Known() }

// mismatches are the peers whose settings differ from this node's. There is at most
// one for each id.
type mismatches map[timed.NodeID]*mismatch

type mismatch struct {
	settings, reported Settings
	from               netip.AddrPort
	lastPacket         timed.Instant
	lastEvent          timed.Instant
	differsSince       timed.Instant // since when an event is due; 0: none is
	lastAnswer         timed.Instant // to a packet
	exchange           exchange
	// mayAgree says that the peer has told no settings, although it would if they differed:
	// its packets may be late ones, from before a change of the quorum system.
	mayAgree bool
	// passed says that a later packet from there was refused for another reason: its sender may
	// have this node's settings by now.
	passed bool
}

// isDue reports whether the event is reported now. It waits for a while for the peer's
// settings, to be able to name them.
func (m *mismatch) isDue(now timed.Instant, group uint64, patience time.Duration) bool {
	return m.differsSince != 0 && (m.reported == Settings{} || now.Sub(m.lastEvent) >= changePeriod) &&
		(m.settings.named(group) || now.Sub(m.differsSince) >= patience)
}

// lasts reports whether the mismatch is shown in the peer's status.
func (m *mismatch) lasts(now timed.Instant) bool {
	return !m.mayAgree && !m.passed && now.Sub(m.lastPacket) <= mismatchPeriod
}

// ofPeer returns the settings of a peer, or nil: those that the node at its address has, whatever
// its id, or those that the peer's id comes with.
func (l mismatches) ofPeer(id timed.NodeID, t *route, now timed.Instant) *Settings {
	if m := l[id]; m != nil && m.lasts(now) && t.leads(m.from) {
		s := m.settings
		return &s
	}
	return l.ofAddr(t.Addr, now)
}

// ofAddr returns the settings of a peer that sends from the address, or nil.
func (l mismatches) ofAddr(addr netip.AddrPort, now timed.Instant) *Settings {
	for _, m := range l {
		if m.from == addr && m.lasts(now) {
			s := m.settings
			return &s
		}
	}
	return nil
}

// pass notes why the latest packet from an address does not count, if it has a reason: the newest
// one is shown.
func (l mismatches) pass(from netip.AddrPort, why string) {
	if why == "" || why == refusedSettings || why == refusedEpoch {
		return
	}
	for _, m := range l {
		m.passed = m.passed || m.from == from
	}
}

// forget forgets a peer whose settings agree now.
func (l mismatches) forget(id timed.NodeID) { delete(l, id) }

// noteGroup notes a packet of another group. A damaged or forged packet must not accuse a
// peer. Nor must a late one: with OrderByEpoch, the packets of a node in its first epoch
// can name [stack.Config.Former], which is another group in later epochs. Nor must a recorded
// one, of which nobody without the key knows more than whence it came: a peer that is heard
// from there is in this group.
func (d *driver) noteGroup(pkt *udp.Packet, h *datagram.Header) {
	if d.pub.current.Alive.Has(h.Source) && d.routes.to[h.Source].Addr == pkt.Addr {
		return
	}
	frames, ok := d.authentic(pkt, h)
	if !ok {
		return
	}
	s := Settings{Group: h.Group}
	if wire.HasSettings(frames) && h.Destination == d.cfg.Self.Node && d.in.decoder.DecodeFrames(*h, frames, &d.in.packet) == nil {
		s.Told = *d.in.packet.Settings
	}
	if d.cfg.OrderByEpoch && s.Told.Follows(&d.l.cfg.Settings) && !d.rivals(&s.Told) {
		return
	}
	d.noteMismatch(h.Source, s, pkt.Addr, d.cfg.OrderByEpoch && wire.NewestOf(h) >= wire.WithSettings)
	d.answerMismatch(h, pkt, s.Told.Known())
}

// rivals reports whether a peer has another quorum system under the number of this node's epoch.
// Neither of the two will learn that of the other.
func (d *driver) rivals(there *wire.Settings) bool {
	if d.stack == nil {
		return false
	}
	here := d.stack.Election().QuorumID()
	return there.Quorum.Epoch == here.Epoch && there.Quorum != here
}

// answerMismatch lets a node of another group hear of this one, so that it can name the
// difference too. An address that has not shown that it receives gets no more bytes than
// came from there. The answer shows that this one receives, because perhaps neither of the
// two lists the other, or not at this address. told says that the packet has the node's settings.
func (d *driver) answerMismatch(h *datagram.Header, pkt *udp.Packet, told bool) {
	now, m, period := d.clock.now, d.mismatches[h.Source], d.cfg.Timing.KeepalivePeriod
	if h.Source == d.cfg.Self.Node {
		return
	}
	proved := d.routes.prove(h, pkt, d.cfg.Self.Boot, now)
	switch {
	case told:
		d.tellSettings(&m.exchange, h, pkt.Addr, proved)
	case proved && !m.settings.Told.Known() && m.exchange.asks(now, period):
		d.tellSettings(&m.exchange, h, pkt.Addr, true)
	case d.routes.to[h.Source].Addr != pkt.Addr && now.Sub(m.lastAnswer) >= period:
		d.greet(m, h, pkt)
	}
}

// answerModel lets a node of this group with other constants of the model hear of this one, so
// that it can name the difference too: packets go to where the node was before.
func (d *driver) answerModel(h *datagram.Header, pkt *udp.Packet) {
	m := d.mismatches[h.Source]
	if m != nil && d.routes.to[h.Source].Addr != pkt.Addr && d.clock.now.Sub(m.lastAnswer) >= d.cfg.Timing.KeepalivePeriod {
		d.greet(m, h, pkt)
	}
}

// greet sends the sender of a packet one that shows that this node receives.
func (d *driver) greet(m *mismatch, h *datagram.Header, pkt *udp.Packet) {
	now := d.clock.now
	m.lastAnswer = now
	p := hello(&d.cfg, h.Version, h.Source, now)
	e := &p.Header.Echo
	e.Boot, e.Sent, e.Received, e.Latest = h.Boot, h.Stamp, now, h.Stamp
	d.challenge(&p, pkt.Addr, h.Source)
}

// noteMismatch notes a packet that was dropped because of the settings of its sender.
// It never ends the node: anybody can send such a packet. names says that the sender tells its
// settings if they differ.
func (d *driver) noteMismatch(id timed.NodeID, s Settings, from netip.AddrPort, names bool) {
	now, m := d.clock.now, d.mismatches[id]
	if m == nil {
		m = &mismatch{lastAnswer: now.Add(-d.cfg.Timing.KeepalivePeriod)}
		if d.mismatches == nil {
			d.mismatches = mismatches{}
		}
		d.mismatches[id] = m
	}
	if s.Group == m.settings.Group && !s.Told.Known() {
		s.Told = m.settings.Told
	}
	m.settings, m.from, m.lastPacket, m.mayAgree, m.passed = s, from, now, names && !s.Told.Known(), false
	switch {
	case m.mayAgree, s == m.reported && now.Sub(m.lastEvent) < mismatchPeriod:
		m.differsSince = 0
	case m.differsSince == 0:
		m.differsSince = now
	}
	d.reportMismatch(id, m)
}

// reportMismatch reports the event of a mismatch if it is due.
func (d *driver) reportMismatch(id timed.NodeID, m *mismatch) {
	now := d.clock.now
	if !m.isDue(now, d.cfg.Group, d.patience()) {
		if m.differsSince != 0 {
			d.lookSoon()
		}
		return
	}
	m.reported, m.lastEvent, m.differsSince = m.settings, now, 0
	e := stack.Event{Kind: stack.EventMismatch, Peer: id, Group: m.settings.Group,
		MaxDrift: m.settings.MaxDrift, FastThreshold: m.settings.FastThreshold, Text: m.from.String()}
	if told := m.settings.Told; told.Known() {
		e.Settings = &told
	}
	e.Elsewhere = d.routes.known.Has(id) && !d.routes.to[id].leads(m.from)
	d.report.events = append(d.report.events, e)
}
