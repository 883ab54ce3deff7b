package loop

import (
	"net/netip"
	"slices"
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// routes says where packets to each peer go.
type routes struct {
	self      timed.NodeID
	limit     int       // of known peers
	known     timed.Set // configured or learnt
	to        [timed.MaxNodes + 1]route
	list      *peers.List
	strangers []*peers.Entry // of the list, without a configured id

	refusals refusals
	unopened refusals                   // of addresses that are not listed
	book     admit.Book[netip.AddrPort] // of addresses that are not configured

	gone  gone      // peers that have left for good
	alive timed.Set // when they were last looked through

	hello   timed.Instant // when the next packets to strangers are due
	cleanup timed.Instant // when learnt peers are looked through
}

// route is where packets to one peer go.
type route struct {
	admit.Way[netip.AddrPort]

	entry *peers.Entry  // nil: a learnt peer
	heard timed.Instant // when a packet of an accepted incarnation last came

	fast, slow uint64       // packets of accepted incarnations
	left       timed.BootID // the incarnation that has said it leaves
}

// leads reports whether the peer may be the sender of packets that have its id, and that nothing
// else shows to be its own: they come from where it is, or nobody knows where that is. A node of
// another group may have the same id.
func (t *route) leads(from netip.AddrPort) bool {
	return !t.Addr.IsValid() || from == t.Addr || from == t.Listed
}

// take adopts a new list. Peers that it lacks are removed, and learnt ones that are too many with
// it. Peers that are alive keep the address that they send from.
func (r *routes) take(list *peers.List, alive timed.Set, now timed.Instant) (added, removed timed.Set) {
	r.list, r.strangers, r.refusals, r.unopened = list, nil, nil, nil
	var listed timed.Set
	for _, e := range *list {
		if e.ID == timed.NoNode {
			r.strangers = append(r.strangers, e)
		}
		id := e.Node()
		if id == timed.NoNode || id == r.self {
			continue
		}
		listed.Add(id)
		if r.gone[id] != 0 && !r.known.Has(id) {
			continue
		}
		if !r.known.Has(id) {
			r.add(id, now)
			added.Add(id)
		}
		t := &r.to[id]
		moved := t.entry == nil || t.entry.Addr != e.Addr
		if e.Addr.IsValid() && (!t.Addr.IsValid() || moved && !alive.Has(id)) {
			t.Addr = e.Addr
		}
		t.Proved = t.Proved || t.Addr == e.Addr
		t.entry, t.Listed = e, e.Addr
	}
	for id := range r.known.Minus(listed).All() {
		if r.to[id].entry != nil {
			r.remove(id)
			removed.Add(id)
		}
	}
	for r.known.Len() > r.limit {
		id := r.quietest()
		if id == timed.NoNode {
			break
		}
		r.remove(id)
		removed.Add(id)
	}
	return added, removed
}

// quietest returns the learnt peer that has been silent for longest, or NoNode.
func (r *routes) quietest() (quietest timed.NodeID) {
	for id := range r.known.All() {
		if r.to[id].entry == nil && (quietest == timed.NoNode || r.to[id].heard < r.to[quietest].heard) {
			quietest = id
		}
	}
	return quietest
}

func (r *routes) add(id timed.NodeID, now timed.Instant) {
	r.known.Add(id)
	r.to[id] = route{heard: now}
}

func (r *routes) remove(id timed.NodeID) {
	r.known.Remove(id)
	r.to[id] = route{}
}

// restart forgets all instants of a clock that is not trusted any more.
func (r *routes) restart(now timed.Instant) {
	r.hello, r.cleanup, r.refusals, r.unopened = now, now, nil, nil
	r.book = admit.Book[netip.AddrPort]{} // its stamps are of the incarnation before
	for id := range r.known.All() {
		t := &r.to[id]
		t.heard = now
		t.Restart()
	}
}

// unclaimed reports whether the list has an address without an id, and no node has been
// learnt there.
func (r *routes) unclaimed(a netip.AddrPort) bool {
	return slices.ContainsFunc(r.strangers, func(e *peers.Entry) bool { return e.Addr == a && e.Node() == timed.NoNode })
}

// prove reports whether packets may go to the address of a packet that passed all
// checks: it is configured, or has shown that it receives.
func (r *routes) prove(h *datagram.Header, pkt *udp.Packet, self timed.BootID, now timed.Instant) bool {
	if r.to[h.Source].Trusts(pkt.Addr) || r.unclaimed(pkt.Addr) {
		return true
	}
	a := admit.Arrival[netip.AddrPort]{From: h.Source, Addr: pkt.Addr, Bytes: pkt.N}
	if h.Echo.Boot == self {
		a.Sent, a.Latest = h.Echo.Sent, h.Echo.Latest
	}
	return r.book.Note(now, &a)
}

// learn takes the source of a packet that passed all checks. It binds an entry
// without an id to the node that answers at its address, and adds a node that is not
// known yet, unless there are too many.
func (r *routes) learn(id timed.NodeID, from netip.AddrPort, proved bool, now timed.Instant) (added, full bool) {
	for _, e := range r.strangers {
		if proved && e.Addr == from && e.Node() != id {
			r.vacate(e)
			e.Learn(id)
			if r.known.Has(id) && r.to[id].entry == nil {
				r.to[id].entry, r.to[id].Listed = e, e.Addr
			}
		}
	}
	if r.known.Has(id) || id == r.self {
		return false, false
	}
	r.gone[id] = 0 // it has come back
	if r.known.Len() >= r.limit {
		return false, true
	}
	r.add(id, now)
	r.to[id].Addr, r.to[id].Proved = from, proved
	if e := r.entryOf(id); e != nil { // without an id, or it had left for good
		r.to[id].entry, r.to[id].Listed = e, e.Addr
	}
	return true, false
}

// vacate notes that another node answers at an entry: the one before is no listed peer any
// more, and is forgotten once it is silent.
func (r *routes) vacate(e *peers.Entry) {
	if t := &r.to[e.Node()]; t.entry == e {
		t.entry, t.Listed = nil, netip.AddrPort{}
	}
}

// entryOf returns the entry of a node, or nil.
func (r *routes) entryOf(id timed.NodeID) *peers.Entry {
	if r.list != nil {
		for _, e := range *r.list {
			if e.Node() == id {
				return e
			}
		}
	}
	return nil
}

// follow takes the verdict on a packet.
func (r *routes) follow(h *datagram.Header, from netip.AddrPort, proved bool, v datagram.Kind, now timed.Instant, patience time.Duration) {
	t := &r.to[h.Source]
	switch v {
	case datagram.Delivered, datagram.Accepted:
		t.heard = now
		t.Follow(now, h.Boot, h.Stamp, from, proved, patience)
	case datagram.Challenged:
		t.Meet(now, h.Boot, from, proved, patience)
	}
}

// leadTo reports whether packets go to a member at the address at which another node has
// heard it, without limit. Two nodes that have not reached each other yet may send no more
// bytes than they got: both would wait for ever if the first packets were lost.
func (r *routes) leadTo(m *wire.Member) bool {
	t := &r.to[m.Node]
	return t.Proved && introducible(t.Addr) == m.Addr
}

// leaves notes that an incarnation of a peer has said that it leaves. It reports
// false if that is known: the peer says so in every packet.
func (r *routes) leaves(id timed.NodeID, boot timed.BootID) bool {
	t := &r.to[id]
	if t.left == boot {
		return false
	}
	t.left = boot
	return true
}

// silent returns the learnt peers that have been silent for so long that they are
// forgotten now.
func (r *routes) silent(now timed.Instant, after time.Duration) (ids timed.Set) {
	for id := r.known.Next(0); id != 0; id = r.known.Next(id) {
		if t := &r.to[id]; t.entry == nil && now.Sub(t.heard) > after {
			ids.Add(id)
		}
	}
	return ids
}

// greets reports whether a packet to another id is a greeting of a known peer, which does not
// know yet who is at this address.
func (r *routes) greets(id timed.NodeID, from netip.AddrPort) bool {
	return r.known.Has(id) && r.to[id].Addr == from
}

// searching reports whether an entry's node is still to be found.
func (r *routes) searching(e *peers.Entry, alive timed.Set) bool {
	id := e.Node()
	return e.Addr.IsValid() && id != r.self && !alive.Has(id)
}

// unused returns an id that no node is known to have: the destination of a packet
// that only names its sender. A node that gets it learns the sender's address and
// handles nothing else of it.
func (r *routes) unused() timed.NodeID {
	for id := timed.NodeID(timed.MaxNodes); id != timed.NoNode; id-- {
		if id != r.self && !r.known.Has(id) {
			return id
		}
	}
	return timed.NoNode
}
