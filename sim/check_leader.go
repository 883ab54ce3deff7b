package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// checkLead holds a lease, just won or renewed, against the rest of the world:
// SO, LS, one leader for each logical partition, and that every vote behind the
// lease outlasts it.
func (c *checker) checkLead(p *Node) {
	if !c.leads(p.index) {
		return
	}
	cl := &c.claims[p.index]
	if !cl.support.Has(p.id) {
		c.fail("LS", p, "leads without its own support")
		return
	}
	others := 0
	for i, q := range c.w.nodes {
		if i == p.index || !c.leads(i) {
			continue
		}
		others++
		other := &c.claims[i]
		if both := cl.support.Intersect(other.support); !both.Empty() && c.sameVoter(both, p, q) {
			c.fail("SO", p, "leads %v while node %d leads %v", cl.support, q.id, other.support)
			return
		}
	}
	if others >= 1 {
		c.sometimes(TwoLeaders)
	}
	if others >= 2 {
		c.sometimes(ThreeLeaders)
	}
	for i, q := range c.w.nodes {
		if i != p.index && cl.support.Has(q.id) {
			c.checkVote(q, p)
		}
	}
}

// sameVoter reports whether two leaders count on one vote. It is one although the
// voter has restarted in between: that is what the waiting time is for. Only
// where an id is used twice do its processes vote on their own.
func (c *checker) sameVoter(ids timed.Set, p, q *Node) bool {
	for id := range ids.All() {
		v, _ := p.st.Election().Vote(id)
		u, _ := q.st.Election().Vote(id)
		if v.Boot == u.Boot || !c.usedTwice(id) {
			return true
		}
	}
	return false
}

// usedTwice reports whether an id has, or had, a rival.
func (c *checker) usedTwice(id timed.NodeID) bool {
	for _, n := range c.w.nodes[c.w.opt.Nodes:] {
		if n.id == id {
			return true
		}
	}
	return false
}

// checkLock holds a changed vote against every lease and view that counts on it.
func (c *checker) checkLock(q *Node) {
	for i, p := range c.w.nodes {
		if i != q.index && c.leads(i) && c.claims[i].support.Has(q.id) {
			c.checkVote(q, p)
		}
		if c.fresh(i) {
			c.checkBacking(q, p)
		}
	}
}

// checkMove demands that a vote given to another process is bound until its time
// or a release: no single turn can both see a release and vote for a third one.
func (c *checker) checkMove(q *Node, to timed.Incarnation) {
	cl := &c.claims[q.index]
	self := timed.Incarnation{Node: q.id, Boot: q.boot}
	if old := cl.lockedTo; old.Valid() && old != self && to.Valid() && to != old && to != self && c.w.now < cl.lockTill {
		c.fail("SO", q, "moves its vote from %v to %v %v before it is free", old, to, time.Duration(cl.lockTill-c.w.now))
	}
}

// checkVote demands that q, if it still is the incarnation that voted, is
// locked to the leader p for at least as long as p leads.
func (c *checker) checkVote(q, p *Node) {
	v, ok := p.st.Election().Vote(q.id)
	if !ok || !q.up || q.boot != v.Boot {
		return
	}
	lock, lead := &c.claims[q.index], &c.claims[p.index]
	if lock.lockedTo != (timed.Incarnation{Node: p.id, Boot: p.boot}) || lock.lockTill < lead.leadUntil {
		c.fail("SO", q, "%s, but node %d leads with its vote for %v", c.binding(lock), p.id, time.Duration(lead.leadUntil-c.w.now))
	}
}

// binding says to whom a vote is bound.
func (c *checker) binding(cl *claims) string {
	if !cl.lockedTo.Valid() || cl.lockTill <= c.w.now {
		return "its vote is free"
	}
	return fmt.Sprintf("its vote is bound to %v for %v", cl.lockedTo, time.Duration(cl.lockTill-c.w.now))
}
