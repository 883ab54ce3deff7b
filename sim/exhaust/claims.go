package exhaust

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// claims are the claims of a node after a turn, in true time: nanoseconds since
// tick 0. Until its next turn only time changes it.
type claims struct {
	self  timed.Incarnation
	ready bool

	leadUntil int64 // it leads before; 0: it does not
	support   timed.Set
	votes     [MaxNodes + 1]leader.Vote

	lockedTo timed.Incarnation
	lockTill int64
	handed   timed.Incarnation // may take the vote over

	view      *membership.View
	viewUntil int64 // the view is up to date before

	committed, proposal, inherited *membership.View

	alive timed.Set
	boots [MaxNodes + 1]timed.BootID // accepted
	heard [MaxNodes + 1]int64        // the last fast packet; valid with hears
	hears timed.Set
}

// claimsOf returns the claims of a node at a tick.
func (w *world) claimsOf(m *machine, tick int64) claims {
	now := w.show(m.self, tick)
	el, mb, dg := m.st.Election(), m.st.Membership(), m.st.Datagram()
	c := claims{self: m.st.Self(), ready: el.Ready(now), support: el.Support(), view: mb.View(),
		committed: mb.Committed(), proposal: mb.Proposal(), inherited: mb.Inherited(), handed: el.Handed(), alive: dg.Alive(now)}
	if until, leads := el.Leading(); leads {
		c.leadUntil = w.truth(m.self, until)
	}
	if to, until := el.Locked(now); to.Valid() {
		c.lockedTo, c.lockTill = to, w.truth(m.self, until)
	}
	if until := mb.ValidUntil(); c.view != nil && until > 0 {
		c.viewUntil = w.truth(m.self, until)
	}
	for id := timed.NodeID(1); int(id) <= w.opt.Nodes; id++ {
		c.votes[id], _ = el.Vote(id)
		if id == m.self {
			continue
		}
		c.boots[id] = dg.Boot(id)
		if age, ok := dg.LastFast(now, id); ok {
			c.heard[id] = w.truth(m.self, now.Add(-age))
			c.hears.Add(id)
		}
	}
	return c
}
