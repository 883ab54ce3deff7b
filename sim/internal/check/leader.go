package check

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// checkLead checks a lease, just won or renewed, against the rest of the world: SO, LS, one
// leader for each logical partition, and that every vote behind the lease outlasts it.
func (c *Checker) checkLead(p *Process) {
	if !c.Leads(p.Index) {
		return
	}
	cl := &c.Claims[p.Index]
	if !cl.Support.Has(p.ID) {
		c.Fail("LS", p, "leads without its own support")
		return
	}
	others := 0
	for i, q := range c.processes {
		if i == p.Index || !c.Leads(i) {
			continue
		}
		others++
		other := &c.Claims[i]
		if both := cl.Support.Intersect(other.Support); !both.Empty() && c.sameVoter(both, p, q) {
			c.Fail("SO", p, "leads %v while node %d leads %v", cl.Support, q.ID, other.Support)
			return
		}
	}
	if others >= 1 {
		c.Sometimes(situation.TwoLeaders)
	}
	if others >= 2 {
		c.Sometimes(situation.ThreeLeaders)
	}
	for i, q := range c.processes {
		if i != p.Index && cl.Support.Has(q.ID) {
			c.checkVote(q, p)
		}
	}
}

// sameVoter reports whether two leaders count on the vote of one of the nodes. A voter that
// restarted in between counts as the same, because it waits before it votes again. The
// processes of an id that is used twice vote independently.
func (c *Checker) sameVoter(ids timed.Set, p, q *Process) bool {
	for id := range ids.All() {
		v, _ := p.Stack.Election().Vote(id)
		u, _ := q.Stack.Election().Vote(id)
		if v.Boot == u.Boot || !c.UsedTwice(id) {
			return true
		}
	}
	return false
}

// UsedTwice reports whether an id has, or had, a rival.
func (c *Checker) UsedTwice(id timed.NodeID) bool {
	for _, n := range c.processes[c.Nodes:] {
		if n.ID == id {
			return true
		}
	}
	return false
}

// checkLock checks a changed vote against every lease and view that counts on it.
func (c *Checker) checkLock(q *Process) {
	for i, p := range c.processes {
		if i != q.Index && c.Leads(i) && c.Claims[i].Support.Has(q.ID) {
			c.checkVote(q, p)
		}
		if c.Fresh(i) {
			c.checkBacking(q, p)
		}
	}
}

// checkMove demands that a vote given to another process stays with it until its time or a
// release, or moves to the process that it was handed to. No single turn can both see a
// release and vote for a third process.
func (c *Checker) checkMove(q *Process, to timed.Incarnation) {
	cl := &c.Claims[q.Index]
	self := q.Incarnation()
	if old := cl.LockedTo; old.Valid() && old != self && to.Valid() && to != old && to != self && to != cl.handed && c.Now < cl.LockUntil {
		c.Fail("SO", q, "moves its vote from %v to %v %v before it is free", old, to, time.Duration(cl.LockUntil-c.Now))
	}
}

// checkVote demands that q, if it is still the incarnation that voted, is locked to the
// leader p for at least as long as p leads.
func (c *Checker) checkVote(q, p *Process) {
	v, ok := p.Stack.Election().Vote(q.ID)
	if !ok || !q.Up || q.Boot != v.Boot {
		return
	}
	lock, lead := &c.Claims[q.Index], &c.Claims[p.Index]
	if lock.LockedTo != p.Incarnation() || lock.LockUntil < lead.LeadUntil {
		c.Fail("SO", q, "%s, but node %d leads with its vote for %v", c.binding(lock), p.ID, time.Duration(lead.LeadUntil-c.Now))
	}
}

// binding describes the binding of a vote.
func (c *Checker) binding(cl *Claims) string {
	if !cl.LockedTo.Valid() || cl.LockUntil <= c.Now {
		return "its vote is free"
	}
	return fmt.Sprintf("its vote is bound to %v for %v", cl.LockedTo, time.Duration(cl.LockUntil-c.Now))
}
