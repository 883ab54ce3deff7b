package replica

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// lasts reports whether the state after a delivery is part of the states of all later
// quorums. Three facts imply it. The delivery is in the order of a settled view, so all
// members that leave the view take the view's rank along. All members are known to have
// the delivery, so it is in every state that they take along. The holders of the view's
// state are a quorum by now, so every later quorum includes one of them, and no state
// outranks its state. Members that only wait for the state do not count, because
// without a holder no member can use the deliveries that they have queued.
func (m *Replica) lasts(d *broadcast.Delivery) bool {
	q := m.cfg.Quorum
	regular := !d.Transitional && d.Atomicity == broadcast.StrictAtomicity
	return regular && q != nil && q.IsQuorum(m.holders)
}

// takeHolds notes that a member has the state of the view from here on.
func (m *Replica) takeHolds(from timed.NodeID, view membership.ViewID) {
	if m.phase == settled && view == m.view.ID {
		m.holders.Add(from)
	}
}

// takeBarrier takes a barrier. Barriers of other nodes have no effect here.
func (m *Replica) takeBarrier(d broadcast.Delivery) {
	switch {
	case !m.own(&d):
	case m.Current():
		m.emit(Effect{Kind: Barrier, Delivery: d, Lasting: m.lasts(&d)})
	default:
		m.skip(d)
	}
}

// newest returns the state of the last quorum. Quorums intersect, so their views are
// one line, in which sequences grow. Among equals, a state that is neither discarded nor
// of an earlier incarnation is preferred, then one with more of the same view, and then
// the one that most members have.
func (m *Replica) newest(bs []branch) branch {
	best, standing := bs[0], m.standingOf(bs[0])
	for _, b := range bs[1:] {
		s := m.standingOf(b)
		if b.rank > best.rank || b.rank == best.rank && (standing == Pending && s != Pending ||
			standing == s && b.rather(&best)) {
			best, standing = b, s
		}
	}
	return best
}

// rather reports whether a branch is preferred to another of the same rank.
func (b *branch) rather(o *branch) bool {
	if b.end.Label == o.end.Label && b.end.View == o.end.View && b.end.Position != o.end.Position {
		return b.end.Position > o.end.Position
	}
	return b.members.Len() > o.members.Len()
}

// standingOf returns the standing of the members that bring a branch along. It is
// Pending if all of them have it from an earlier incarnation or have discarded it.
func (m *Replica) standingOf(b branch) Standing {
	for id := range b.members.All() {
		if m.reportOf(id).standing != Pending {
			return Holder
		}
	}
	return Pending
}
