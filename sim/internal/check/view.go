package check

import (
	"slices"
	"time"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// installed checks M1, M2 and M3 at an installation.
func (c *Checker) installed(n *Process, v *membership.View, previous membership.ViewID) {
	if old, ok := c.views[v.ID]; !ok {
		c.views[v.ID] = v
		c.countMerged(v)
		c.noteCommitted(n, v)
	} else if !slices.Equal(old.Members, v.Members) {
		c.Fail("M1", n, "view %v has members %v here and %v elsewhere", v.ID, v.Members, old.Members)
		return
	}
	if !v.Has(n.Incarnation()) {
		c.Fail("M2", n, "is not a member of its view %v", v.ID)
		return
	}
	if last := c.seen[n.Index]; v.ID.Sequence <= last.Sequence {
		c.Fail("M3", n, "installs view %v after %v", v.ID, last)
		return
	}
	c.seen[n.Index] = v.ID
	c.Live.changed()
	c.countLeft(v, previous)
}

// noteCommitted records a view that has just been committed. From now on no earlier view that
// shares a member with it may be up to date (M4), because applications read by the lease of a
// view. The claims of the node itself are checked at the end of its turn, in which it may drop
// a view.
func (c *Checker) noteCommitted(n *Process, v *membership.View) {
	for id := range v.Set.All() {
		c.latest[id] = v
	}
	for i := range c.processes {
		if i != n.Index && c.Fresh(i) {
			c.checkLatest(n, c.Claims[i].View)
		}
	}
}

// checkLatest demands that an up-to-date view is the last one of each of its members.
func (c *Checker) checkLatest(n *Process, v *membership.View) {
	for id := range v.Set.All() {
		if next := c.latest[id]; next != nil && next.ID != v.ID && c.shareMember(next, v) {
			c.Fail("M4", n, "view %v of %v is up to date although view %v of %v has been committed since", v.ID, v.Set, next.ID, next.Set)
			return
		}
	}
}

// countMerged counts the situations of views that a new one merges.
func (c *Checker) countMerged(v *membership.View) {
	branches := 0
	for _, b := range v.Merged() {
		if !b.From.None() {
			branches++
		}
	}
	if branches >= 2 {
		c.Sometimes(situation.MergedTwo)
	}
	if branches >= 3 {
		c.Sometimes(situation.MergedMore)
	}
}

// countLeft counts the situations of members of a node's previous view that left it.
func (c *Checker) countLeft(v *membership.View, previous membership.ViewID) {
	old := c.views[previous]
	if old == nil {
		return
	}
	if !old.Set.Subset(v.Set) {
		c.Sometimes(situation.ViewShrank)
	}
	for i := range old.Members {
		if m := &old.Members[i]; v.Set.Has(m.Node) && !v.Has(m.Incarnation) {
			c.Sometimes(situation.Rejoined)
		}
	}
}

// checkView checks M4 when a view becomes or stays up to date, and demands that the votes of
// all members outlast the lease.
func (c *Checker) checkView(n *Process) {
	if !c.Fresh(n.Index) {
		return
	}
	v := c.Claims[n.Index].View
	c.checkLatest(n, v)
	for i, m := range c.processes {
		if i == n.Index || !c.Fresh(i) {
			continue
		}
		if other := c.Claims[i].View; other.ID != v.ID && other.Set.Intersects(v.Set) && c.shareMember(other, v) {
			c.Fail("M4", n, "view %v of %v is up to date while node %d's view %v of %v is", v.ID, v.Set, m.ID, other.ID, other.Set)
			return
		}
	}
	members := &c.Claims[n.Index].members
	for place := members.Next(0); place != 0; place = members.Next(place) {
		c.checkBacking(c.processes[place-1], n)
	}
}

// shareMember reports whether two views have a member in common. Members are the same if
// their ids are, except for ids that are used twice.
func (c *Checker) shareMember(a, b *membership.View) bool {
	for i := range a.Members {
		if id := a.Members[i].Node; b.Set.Has(id) && (!c.UsedTwice(id) || b.Has(a.Members[i].Incarnation)) {
			return true
		}
	}
	return false
}

// checkBacking demands that m, if its incarnation is a member of n's up-to-date view, is
// locked for as long as the view is up to date: to the view's leader, or to a member that has
// inherited the view, and so commits no other view without its members.
func (c *Checker) checkBacking(m, n *Process) {
	cl := &c.Claims[n.Index]
	if !m.Up || !cl.members.Has(m.place()) {
		return
	}
	lock := &c.Claims[m.Index]
	if lock.LockedTo != cl.leader && !c.inherits(lock.LockedTo, cl.View) || lock.LockUntil < cl.ViewUntil {
		c.Fail("M4", m, "%s, but node %d counts on view %v for %v", c.binding(lock), n.ID, cl.View.ID, time.Duration(cl.ViewUntil-c.Now))
	}
}

// inherits reports whether an incarnation that runs has inherited a view, or one that has
// ended was a member of it.
func (c *Checker) inherits(i timed.Incarnation, v *membership.View) bool {
	for _, n := range c.processes {
		if n.ID == i.Node && n.Boot == i.Boot && n.Up {
			w := n.Stack.Membership().Inherited()
			return w != nil && w.ID == v.ID
		}
	}
	return v.Has(i)
}

// checkProposal checks M6: a leader drops a member only when it is not alive for
// it any more, refused, or restarted.
func (c *Checker) checkProposal(n *Process, p *membership.View, now timed.Instant) {
	old := n.Stack.Membership().Committed()
	if old == nil {
		return
	}
	gone := old.Set.Minus(p.Set).Intersect(n.Stack.Datagram().Alive(now)).Minus(n.Stack.Election().Refusals())
	for id := range gone.All() {
		if m, _ := old.Member(id); m.Boot == n.Stack.Datagram().Boot(id) {
			c.Fail("M6", n, "drops node %d from view %v although it is alive and did not refuse", id, old.ID)
			return
		}
	}
}
