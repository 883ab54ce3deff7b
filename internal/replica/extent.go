package replica

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
)

// Extent describes the contents of this node's state, for reads without messages. The zero
// value means that the node does not have the state of its view.
type Extent struct {
	View membership.ViewID
	Seen uint64 // the position of the last delivery in the order
	Last uint64 // the position of the last operation in the view, or 0
	// Sure is one more than the position through which the state is part of the states of
	// all later quorums; without a Quorum, of all members of the view. 0 means none.
	Sure uint64
	// Whole is, with Stored, the value that Sure reaches once the disks have the state.
	// Otherwise it is Sure.
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

// noteSeen records the position of a delivery in the order. All members have everything before
// a regular Strict delivery, even one of another sender; lasts explains when that is enough.
func (m *Replica) noteSeen(d *broadcast.Delivery) {
	if d.Class != broadcast.ClassOrdered {
		return
	}
	m.seen = d.Position
	regular := isStrict(d)
	if q := m.cfg.Quorum; regular && (q == nil || m.cfg.Stored || q.IsQuorum(m.holders)) {
		m.whole = d.Position + 1
	}
}
