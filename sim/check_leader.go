package sim

import "github.com/failaware/failaware/timed"

// checkLead holds a lease, just won or renewed, against the rest of the world:
// SO, LS, one leader for each logical partition, and that every vote behind the
// lease outlasts it.
func (c *checker) checkLead(p *node) {
	if !c.leads(p.index) {
		return
	}
	cl := &c.claims[p.index]
	if !cl.support.Has(p.id) {
		c.fail("LS", p, "leads without its own support")
		return
	}
	for i, q := range c.w.nodes {
		if i == p.index || !c.leads(i) {
			continue
		}
		other := &c.claims[i]
		if both := cl.support.Intersect(other.support); !both.Empty() {
			c.fail("SO", p, "leads %v while node %d leads %v", cl.support, q.id, other.support)
			return
		}
	}
	for id := cl.support.Next(0); id != 0; id = cl.support.Next(id) {
		if i := int(id) - 1; i != p.index && i < len(c.w.nodes) {
			c.checkVote(c.w.nodes[i], p)
		}
	}
}

// checkLock holds a changed vote against every lease and view that counts on it.
func (c *checker) checkLock(q *node) {
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
func (c *checker) checkMove(q *node, to timed.Incarnation) {
	cl := &c.claims[q.index]
	self := timed.Incarnation{Node: q.id, Boot: q.boot}
	if old := cl.lockedTo; old.Valid() && old != self && to.Valid() && to != old && to != self && c.w.now < cl.lockTill {
		c.fail("SO", q, "moves its vote from %v to %v %d ns before it is free", old, to, cl.lockTill-c.w.now)
	}
}

// checkVote demands that q, if it still is the incarnation that voted, is
// locked to the leader p for at least as long as p leads.
func (c *checker) checkVote(q, p *node) {
	v, ok := p.st.Election().Vote(q.id)
	if !ok || !q.up || q.boot != v.Boot {
		return
	}
	lock, lead := &c.claims[q.index], &c.claims[p.index]
	if lock.lockedTo != (timed.Incarnation{Node: p.id, Boot: p.boot}) || lock.lockTill < lead.leadUntil {
		c.fail("SO", q, "is locked to %v for %d ns, but node %d leads with its vote for %d ns",
			lock.lockedTo, lock.lockTill-c.w.now, p.id, lead.leadUntil-c.w.now)
	}
}
