package failaware

import (
	"net/netip"
	"slices"
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// routes says where packets to each peer go. It belongs to the loop.
type routes struct {
	self      NodeID
	limit     int
	known     timed.Set
	to        [timed.MaxNodes + 1]route
	listed    *peers.List
	strangers []*peers.Entry // of the list, whose ids are not configured
}

// route is what the loop knows of one peer's whereabouts.
type route struct {
	addr  netip.AddrPort
	boot  BootID        // the accepted incarnation when addr was last confirmed
	stamp timed.Instant // on its clock, of the packet that confirmed addr

	// Where an incarnation that is not accepted yet sends from. It must hear us
	// to be accepted, so packets go there too, for a while.
	alt      netip.AddrPort
	altUntil timed.Instant

	entry *peers.Entry  // nil: a learnt peer
	heard timed.Instant // when a packet of an accepted incarnation last came
	left  BootID        // the incarnation that said it leaves
}

// forgetAfter is after what silence a learnt peer is forgotten. Those who list
// this node will be learnt again.
func forgetAfter(t *Timing) time.Duration { return time.Minute + 60*t.Expires }

// take adopts a new list. Peers that are not listed any more are removed; alive
// ones keep the address that they send from.
func (r *routes) take(list *peers.List, alive timed.Set, now timed.Instant) (added, removed timed.Set) {
	r.listed, r.strangers = list, nil
	var named timed.Set
	for _, e := range *list {
		if e.ID == NoNode {
			r.strangers = append(r.strangers, e)
		}
		id := e.Node()
		if id == NoNode || id == r.self {
			continue
		}
		named.Add(id)
		if !r.known.Has(id) {
			r.add(id, now)
			added.Add(id)
		}
		t := &r.to[id]
		moved := t.entry == nil || t.entry.Addr != e.Addr
		if e.Addr.IsValid() && (!t.addr.IsValid() || moved && !alive.Has(id)) {
			t.addr = e.Addr
		}
		t.entry = e
	}
	for id := range r.known.Minus(named).All() {
		if r.to[id].entry != nil {
			r.remove(id)
			removed.Add(id)
		}
	}
	return added, removed
}

func (r *routes) add(id NodeID, now timed.Instant) {
	r.known.Add(id)
	r.to[id] = route{heard: now}
}

func (r *routes) remove(id NodeID) {
	r.known.Remove(id)
	r.to[id] = route{}
}

// learn takes the source of a packet that passed all checks. It binds an entry
// without an id to the node that answers at its address, and adds a node that
// is not known yet, unless there are too many.
func (r *routes) learn(id NodeID, from netip.AddrPort, now timed.Instant) (added, full bool) {
	for _, e := range r.strangers {
		if e.Addr == from && e.Node() != id {
			e.Learn(id)
			if r.known.Has(id) && r.to[id].entry == nil {
				r.to[id].entry = e
			}
		}
	}
	if r.known.Has(id) || id == r.self {
		return false, false
	}
	if r.known.Len() >= r.limit {
		return false, true
	}
	r.add(id, now)
	r.to[id].addr = from
	if i := slices.IndexFunc(r.strangers, func(e *peers.Entry) bool { return e.Node() == id }); i >= 0 {
		r.to[id].entry = r.strangers[i]
	}
	return true, false
}

// follow takes what became of a packet: the accepted incarnation is followed to
// where it sends from, others are answered there for a while.
func (r *routes) follow(h *datagram.Header, from netip.AddrPort, v datagram.Verdict, now timed.Instant, patience time.Duration) {
	t := &r.to[h.Source]
	switch v {
	case datagram.Delivered, datagram.Accepted:
		t.heard = now
		if t.boot == h.Boot && h.Stamp <= t.stamp {
			return // overtaken by a packet that may have come from elsewhere
		}
		t.boot, t.stamp, t.addr = h.Boot, h.Stamp, from
		if t.alt == from {
			t.alt = netip.AddrPort{}
		}
	case datagram.Challenged:
		if from != t.addr {
			t.alt, t.altUntil = from, now.Add(patience)
		}
	}
}

// silent returns the learnt peers that have been silent for so long that they
// are forgotten now.
func (r *routes) silent(now timed.Instant, after time.Duration) (ids timed.Set) {
	for id := r.known.Next(0); id != 0; id = r.known.Next(id) {
		if t := &r.to[id]; t.entry == nil && now.Sub(t.heard) > after {
			ids.Add(id)
		}
	}
	return ids
}

// searching reports whether an entry's node is still to be found.
func (r *routes) searching(e *peers.Entry, alive timed.Set) bool {
	id := e.Node()
	return e.Addr.IsValid() && id != r.self && !alive.Has(id)
}

// nobody returns an id that no node is known to have: the destination of a
// packet that only says who sends it. Whoever gets it learns the source and
// handles nothing else of it.
func (r *routes) nobody() NodeID {
	for id := NodeID(timed.MaxNodes); id != NoNode; id-- {
		if id != r.self && !r.known.Has(id) {
			return id
		}
	}
	return NoNode
}

// hello is the packet to a node whose id is not known.
func hello(cfg *stack.Config, to NodeID, now timed.Instant) stack.Packet {
	return stack.Packet{
		MaxDrift: cfg.Timing.MaxDrift, FastThreshold: cfg.Timing.FastThreshold,
		Header: datagram.Header{Version: datagram.Version, Group: cfg.Group, Source: cfg.Self.Node,
			Destination: to, Boot: cfg.Self.Boot, Stamp: now, Echo: datagram.Echo{Heard: datagram.NotHeard}},
	}
}
