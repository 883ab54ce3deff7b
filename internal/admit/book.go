package admit

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

const (
	// maxEntries bounds the addresses in a book, and perNode those that one node can
	// take up: packets of one node with ever other source addresses put out only each
	// other.
	maxEntries = 512
	perNode    = 4
	// stampsKept is how many challenges to an address can be answered. The oldest one
	// is no longer counted when another one leaves.
	stampsKept = 4
)

// Arrival is what a [Book] needs to know of a packet that is authentic, as far as it can
// be: its source, its address, its length in bytes, and the two stamps of this
// incarnation that it echoes, both 0 if it echoes none.
type Arrival[A comparable] struct {
	From         timed.NodeID
	Addr         A
	Bytes        int
	Sent, Latest timed.Instant
}

// Book keeps which addresses have shown that they receive what is sent to them, for which
// nodes: a packet of one node that is sent on from another node's address would otherwise
// draw the node's packets there. The zero Book has none. Addresses of the configuration are not in it. A is what addresses
// are.
type Book[A comparable] struct {
	entries []entry[A] // in no order that matters
}

type entry[A comparable] struct {
	addr   A
	from   timed.NodeID
	heard  timed.Instant // when a packet last came from there
	credit int           // bytes that came and were not answered yet
	stamps [stampsKept]timed.Instant
	proved bool
}

// maxCredit bounds the credit of an address in bytes, so that old packets do not allow a
// burst.
const maxCredit = 4096

func (b *Book[A]) find(id timed.NodeID, addr A) *entry[A] {
	for i := range b.entries {
		if b.entries[i].addr == addr && b.entries[i].from == id {
			return &b.entries[i]
		}
	}
	return nil
}

// Note notes a packet, and reports whether its address has shown that it receives.
func (b *Book[A]) Note(now timed.Instant, a *Arrival[A]) (proved bool) {
	e := b.find(a.From, a.Addr)
	if e == nil {
		e = b.add(a)
	}
	e.heard = now
	e.credit = min(e.credit+a.Bytes, maxCredit)
	if !e.proved && (a.Latest != 0 && slices.Contains(e.stamps[:], a.Latest) || a.Sent != 0 && slices.Contains(e.stamps[:], a.Sent)) {
		e.proved = true
	}
	return e.proved
}

// add adds an address, and drops another one if there are too many: that which was
// heard longest ago, and rather one that has shown nothing.
func (b *Book[A]) add(a *Arrival[A]) *entry[A] {
	own := 0
	for i := range b.entries {
		if b.entries[i].from == a.From && !b.entries[i].proved {
			own++
		}
	}
	at := -1
	if own >= perNode || len(b.entries) >= maxEntries {
		for i := range b.entries {
			e := &b.entries[i]
			if own >= perNode && (e.from != a.From || e.proved) {
				continue
			}
			if at < 0 || e.older(&b.entries[at]) {
				at = i
			}
		}
	}
	if at < 0 {
		b.entries = append(b.entries, entry[A]{})
		at = len(b.entries) - 1
	}
	b.entries[at] = entry[A]{addr: a.Addr, from: a.From}
	return &b.entries[at]
}

// older reports whether e is dropped before x.
func (e *entry[A]) older(x *entry[A]) bool {
	if e.proved != x.proved {
		return x.proved
	}
	return e.heard < x.heard
}

// Proved reports whether an address has shown that it receives packets for a node.
func (b *Book[A]) Proved(id timed.NodeID, addr A) bool {
	e := b.find(id, addr)
	return e != nil && e.proved
}

// Spend reports whether so many bytes for a node may go to an address, and counts them:
// to one that has shown nothing, no more than came from there.
func (b *Book[A]) Spend(id timed.NodeID, addr A, bytes int) bool {
	e := b.find(id, addr)
	if e == nil {
		return false
	}
	if e.proved {
		return true
	}
	if bytes > e.credit {
		return false
	}
	e.credit -= bytes
	return true
}

// NoteChallenge notes the stamp of a packet for a node that leaves for an address. No
// packet to another address has the same stamp.
func (b *Book[A]) NoteChallenge(id timed.NodeID, addr A, stamp timed.Instant) {
	if e := b.find(id, addr); e != nil && !e.proved {
		copy(e.stamps[1:], e.stamps[:])
		e.stamps[0] = stamp
	}
}

// Forget forgets the addresses from which nothing came since an instant.
func (b *Book[A]) Forget(since timed.Instant) {
	b.entries = slices.DeleteFunc(b.entries, func(e entry[A]) bool { return e.heard < since })
}
