package replica

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
)

// Extent says what the state of this node contains, for readers that send nothing. The
// zero value says that the node does not have the state of its view.
type Extent struct {
	View membership.ViewID
	Seen uint64 // the position of the last delivery in the order
	Last uint64 // the position of the last operation in the view, or 0
	// Sure is one more than the position through which the state is part of the states of
	// all later quorums; without a Quorum, of all members of the view. 0: nothing is.
	Sure uint64
	// Whole is what Sure becomes once the disks that must have it do, with Stored, and Sure
	// otherwise.
	Whole uint64
}

// Extent returns what the state contains once the application has performed all calls so
// far.
func (m *Replica) Extent() Extent {
	if !m.Current() {
		return Extent{}
	}
	e := Extent{View: m.view.ID, Seen: m.seen, Last: m.last, Sure: m.whole, Whole: m.whole}
	if m.cfg.Stored {
		e.Sure = min(e.Sure, m.lastsTo)
	}
	return e
}

// see notes the position of a delivery in the order. All members have everything before a
// regular Strict one, whoever sent it; lasts says when that is enough.
func (m *Replica) see(d *broadcast.Delivery) {
	if d.Class != broadcast.ClassOrdered {
		return
	}
	m.seen = d.Position
	regular := !d.Transitional && d.Atomicity == broadcast.StrictAtomicity
	if q := m.cfg.Quorum; regular && (q == nil || m.cfg.Stored || q.IsQuorum(m.holders)) {
		m.whole = d.Position + 1
	}
}
