package loop

import (
	"maps"
	"net/netip"
	"slices"
	"sort"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/histogram"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// Status is everything that people may want to see of a loop, at one instant.
type Status struct {
	At           timed.Instant
	Boot         timed.BootID
	Incarnations int
	Waiting      life.Reason // None, unless the node waits before it begins an incarnation
	Ready        bool
	Leaving      bool
	Late         bool // it acted late lately, and its packets say so
	Alive        timed.Set
	UTC          clocksync.Knowledge
	Keys         []seal.KeyID // the one that seals first
	Peers        []PeerStatus // in the order of ids; those without a known id last
	Counters     []Counter
	Lateness     Lateness
	Delays       histogram.Durations // proven bounds, of packets of accepted incarnations
}

// PeerStatus is a node's knowledge of a peer.
type PeerStatus struct {
	ID      timed.NodeID   // NoNode: not learnt yet
	Boot    timed.BootID   // the accepted incarnation; 0 when there is none
	Listed  string         // the address in the list of peers; empty for a learnt peer
	Addr    netip.AddrPort // where packets go; not valid while unresolved
	Problem string         // why it is unresolved
	// Mismatch has the settings of packets that were dropped because of them; nil: none.
	Mismatch *Settings
	// Foreign has what is known of its quorum system, if it is alive and follows another one; nil:
	// it does not.
	Foreign *wire.Settings
	// Refused says why packets from its listed address do not count; empty: none has come
	// lately. Incompatible says that only other keys or another build end that.
	Refused      string
	Incompatible bool
	Ignored      string       // why packets are ignored, in a few words, if Mismatch or Refused says so
	Keys         []seal.KeyID // by its latest packet, the one that seals first
	Forgot       bool         // as far as its votes tell, it has lost its state directory, or has an older copy
	Alive        bool
	Fault        bool          // a clock fault lies between this node and the peer
	Delay        time.Duration // proven delay bound of its last packet, or [datagram.Unknown]
	Fast         bool          // that packet was fast
	LastFast     time.Duration // since its last fast packet, or -1
	Refuses      bool          // it takes another incarnation for this node
	// How many packets of its accepted incarnations were fast, and how many were not.
	FastPackets, SlowPackets uint64
	// Offset of its hardware clock against this node's lies within these, if
	// OffsetKnown.
	OffsetLow, OffsetHigh time.Duration
	OffsetKnown           bool
	// The peer reports these about itself.
	Leads     bool
	Candidate bool
	Late      bool
	Support   int
	Weight    uint16
	LockedTo  timed.NodeID
}

func (d *driver) status() *Status {
	now := d.pub.current
	s := &Status{At: d.clock.now, Boot: d.cfg.Self.Boot, Incarnations: d.life.Incarnations(), Waiting: d.life.Waiting(),
		Leaving: d.life.Leaving(), Lateness: d.clock.late, Ready: now.Ready, Alive: now.Alive, Delays: d.delays}
	if d.stack != nil {
		s.Late, s.UTC = d.stack.Election().Late(d.clock.now), d.stack.Clock().Knowledge(d.clock.now)
	}
	for id := range d.routes.known.All() {
		s.Peers = append(s.Peers, d.peerStatus(id))
	}
	for _, e := range d.routes.strangers {
		if e.Node() == timed.NoNode {
			p := PeerStatus{Listed: e.Name, Addr: e.Addr, Problem: e.Problem,
				Mismatch: d.mismatches.ofAddr(e.Addr, d.clock.now), Delay: datagram.Unknown, LastFast: -1}
			d.fillRefused(&p, d.routes.refusals, e.Addr)
			s.Peers = append(s.Peers, p)
		}
	}
	s.Peers = append(s.Peers, d.unlisted()...)
	s.Counters, s.Keys = d.counters(), d.opening.keys
	return s
}

// unlisted returns the senders of packets that do not count, among those that this node
// does not know.
func (d *driver) unlisted() (list []PeerStatus) {
	now := d.clock.now
	for id := range idsOf(d.mismatches).All() {
		m := d.mismatches[id]
		listed := slices.ContainsFunc(d.routes.strangers, func(e *peers.Entry) bool { return e.Addr == m.from })
		if listed || id == d.cfg.Self.Node || !m.lasts(now) {
			continue
		}
		s := m.settings
		p := PeerStatus{ID: id, Addr: m.from, Mismatch: &s, Ignored: ignoredSettings, Delay: datagram.Unknown, LastFast: -1}
		if d.routes.known.Has(id) {
			if d.routes.to[id].leads(m.from) || d.routes.sendsTo(m.from) {
				continue
			}
			p.ID = timed.NoNode // the peer has a row of its own
		}
		list = append(list, p)
	}
	unopened := slices.Collect(maps.Keys(d.routes.unopened))
	// slices.SortFunc takes 10 KB for this type.
	sort.Slice(unopened, func(i, j int) bool { return unopened[i].Compare(unopened[j]) < 0 })
	for _, from := range unopened {
		p := PeerStatus{Addr: from, Delay: datagram.Unknown, LastFast: -1}
		if d.fillRefused(&p, d.routes.unopened, from); p.Refused != "" && !d.routes.sendsTo(from) {
			list = append(list, p)
		}
	}
	return list
}

func (d *driver) peerStatus(id timed.NodeID) PeerStatus {
	t := &d.routes.to[id]
	p := PeerStatus{ID: id, Addr: t.Addr, Keys: d.opening.rings[id].list(), Forgot: d.forgot(id), Alive: d.pub.current.Alive.Has(id), Delay: datagram.Unknown, LastFast: -1,
		FastPackets: t.fast, SlowPackets: t.slow}
	if t.entry != nil {
		p.Listed, p.Problem = t.entry.Name, t.entry.Problem
	}
	if !p.Alive {
		p.Mismatch = d.mismatches.ofPeer(id, t, d.clock.now)
		if t.entry != nil {
			d.fillRefused(&p, d.routes.refusals, t.entry.Addr)
		} else {
			d.fillRefused(&p, d.routes.unopened, t.Addr)
		}
	}
	if d.stack == nil {
		return p
	}
	dg := d.stack.Datagram()
	delay := dg.LastDelay(id)
	p.Boot, p.Fault, p.Delay, p.Fast = dg.Boot(id), dg.Fault(id), delay.Bound, delay.Fast
	if age, ok := dg.LastFast(d.clock.now, id); ok {
		p.LastFast = age
	}
	p.Refuses = !p.Alive && dg.Refuses(d.clock.now, id)
	p.OffsetLow, p.OffsetHigh, p.OffsetKnown = dg.Offset(d.clock.now, id)
	if p.Alive && d.stack.Election().Foreign(id) {
		p.Foreign = new(wire.Settings)
		if q := d.quorums[id]; q != nil {
			*p.Foreign = q.theirs
		}
	}
	st := d.stack.Election().Peer(id)
	p.Leads, p.Candidate, p.Late, p.Support = st.Leading, st.Contender, st.Late, int(st.Support)
	p.Weight, p.LockedTo = st.Weight, st.LockedTo.Node
	return p
}
