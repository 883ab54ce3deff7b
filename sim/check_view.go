package sim

import (
	"slices"
	"time"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// installed checks M1, M2 and M3 at an installation.
func (c *checker) installed(n *Node, v *membership.View, previous membership.ViewID) {
	if old, ok := c.views[v.ID]; !ok {
		c.views[v.ID] = v
		c.merged(v)
	} else if !slices.Equal(old.Members, v.Members) {
		c.fail("M1", n, "view %v has members %v here and %v elsewhere", v.ID, v.Members, old.Members)
		return
	}
	if !v.Has(timed.Incarnation{Node: n.id, Boot: n.boot}) {
		c.fail("M2", n, "is not a member of its view %v", v.ID)
		return
	}
	if last := c.seen[n.index]; v.ID.Sequence <= last.Sequence {
		c.fail("M3", n, "installs view %v after %v", v.ID, last)
		return
	}
	c.seen[n.index] = v.ID
	c.live.changed()
	c.came(v, previous)
}

// merged counts how many views a new one brings together.
func (c *checker) merged(v *membership.View) {
	branches := 0
	for _, b := range v.Merged() {
		if !b.From.None() {
			branches++
		}
	}
	if branches >= 2 {
		c.sometimes(MergedTwo)
	}
	if branches >= 3 {
		c.sometimes(MergedMore)
	}
}

// came counts what becomes of the members of a node's previous view.
func (c *checker) came(v *membership.View, previous membership.ViewID) {
	old := c.views[previous]
	if old == nil {
		return
	}
	if !old.Set.Subset(v.Set) {
		c.sometimes(ViewShrank)
	}
	for i := range old.Members {
		if m := &old.Members[i]; v.Set.Has(m.Node) && !v.Has(m.Incarnation) {
			c.sometimes(Rejoined)
		}
	}
}

// checkView checks M4 when a view becomes or stays up to date, and that every
// member's vote outlasts the lease.
func (c *checker) checkView(n *Node) {
	if !c.fresh(n.index) {
		return
	}
	v := c.claims[n.index].view
	for i, m := range c.w.nodes {
		if i == n.index || !c.fresh(i) {
			continue
		}
		if other := c.claims[i].view; other.ID != v.ID && other.Set.Intersects(v.Set) && c.shareMember(other, v) {
			c.fail("M4", n, "view %v of %v is up to date while node %d's view %v of %v is", v.ID, v.Set, m.id, other.ID, other.Set)
			return
		}
	}
	members := &c.claims[n.index].members
	for place := members.Next(0); place != 0; place = members.Next(place) {
		c.checkBacking(c.w.nodes[place-1], n)
	}
}

// shareMember reports whether two views have a member in common: by its id, but
// for ids that are used twice.
func (c *checker) shareMember(a, b *membership.View) bool {
	for i := range a.Members {
		if id := a.Members[i].Node; b.Set.Has(id) && (!c.usedTwice(id) || b.Has(a.Members[i].Incarnation)) {
			return true
		}
	}
	return false
}

// checkBacking demands that m, if its incarnation is a member of n's up-to-date
// view, is locked to the view's leader for as long as the view is up to date.
func (c *checker) checkBacking(m, n *Node) {
	cl := &c.claims[n.index]
	if !m.up || !cl.members.Has(m.place()) {
		return
	}
	lock := &c.claims[m.index]
	if lock.lockedTo != cl.leader || lock.lockTill < cl.viewUntil {
		c.fail("M4", m, "%s, but node %d counts on view %v for %v", c.binding(lock), n.id, cl.view.ID, time.Duration(cl.viewUntil-c.w.now))
	}
}

// checkProposal checks M6: a leader drops a member only when it is not alive for
// it any more, refused, or restarted.
func (c *checker) checkProposal(n *Node, p *membership.View, now timed.Instant) {
	old := n.st.Membership().Committed()
	if old == nil {
		return
	}
	gone := old.Set.Minus(p.Set).Intersect(n.st.Datagram().Alive(now)).Minus(n.st.Election().Refusals())
	for id := range gone.All() {
		if m, _ := old.Member(id); m.Boot == n.st.Datagram().Boot(id) {
			c.fail("M6", n, "drops node %d from view %v although it is alive and did not refuse", id, old.ID)
			return
		}
	}
}
