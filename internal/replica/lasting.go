package replica

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// lasts reports whether the state after a delivery is part of that of all later
// quorums. It is in the order of a view that was settled before, so all who leave
// the view take the view's rank along; all members are known to have the
// delivery, so all who leave the view have it in what they have; and those who had
// the state of the view by then are a majority, so every later quorum has one of
// them, whose state nobody else's outranks. Members that only wait for the state
// do not count: without a holder, nobody can use what was delivered to them.
func (m *Replica) lasts(d *broadcast.Delivery) bool {
	group := m.cfg.RequireQuorum
	regular := !d.Transitional && d.Atomicity == broadcast.StrictAtomicity
	return regular && !group.Empty() && 2*m.holders.Intersect(group).Len() > group.Len()
}

// takeHolds takes a member's word that it has the state of the view by now.
func (m *Replica) takeHolds(from timed.NodeID, view membership.ViewID) {
	if m.phase == settled && view == m.view.ID {
		m.holders.Add(from)
	}
}

// takeBarrier takes a barrier. That of another node changes nothing here.
func (m *Replica) takeBarrier(d broadcast.Delivery) {
	switch {
	case !m.own(&d):
	case m.Current():
		m.emit(Effect{Kind: Barrier, Delivery: d, Lasting: m.lasts(&d)})
	default:
		m.skip(d)
	}
}

// newest returns the state of the last quorum. Quorums intersect, so their views
// are one line, in which sequences grow. Of equals, one that was not discarded is
// preferred, and then the one that most members have.
func (m *Replica) newest(bs []branch) branch {
	best, standing := bs[0], m.standingOf(bs[0])
	for _, b := range bs[1:] {
		s := m.standingOf(b)
		if b.rank > best.rank || b.rank == best.rank && (standing == Pending && s != Pending ||
			standing == s && b.members.Len() > best.members.Len()) {
			best, standing = b, s
		}
	}
	return best
}

// standingOf returns the standing of the members who bring a branch along: Pending
// where they have discarded it.
func (m *Replica) standingOf(b branch) Standing {
	for id := range b.members.All() {
		if s := m.reportOf(id).standing; s == Pending {
			return Pending
		}
	}
	return Holder
}
