package sim

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// lookGlobal takes a node's claim to lead globally after a turn, and holds it
// against the rest of the world: nobody else does, a quorum is bound to it for as
// long, and its quorum timestamp is later than all that were made before.
func (c *checker) lookGlobal(n *Node, now timed.Instant) {
	cl, el := &c.claims[n.index], n.st.Election()
	end, leads := el.LeadingGlobally()
	if !leads {
		end = 0
	}
	stamps, _ := el.QuorumStamp(now)
	if end == cl.globalEnd && stamps == cl.stamps {
		return
	}
	fresh := stamps != cl.stamps
	cl.globalEnd, cl.stamps = end, stamps
	cl.ageGlobal(n)
	if !c.leadsGlobally(n.index) {
		return
	}
	c.checkUnique(n)
	if stamps == nil {
		c.fail("Uniqueness", n, "leads globally without the stamps of a quorum")
		return
	}
	for i := range stamps.Stamps {
		c.checkBound(n, &stamps.Stamps[i])
	}
	if fresh {
		c.checkEpoch(n, stamps.Epoch)
		c.checkStamps(n, stamps)
	}
}

// checkUnique demands that nobody else leads globally.
func (c *checker) checkUnique(n *Node) {
	elsewhere := 0
	for i, m := range c.w.nodes {
		if i == n.index {
			continue
		}
		if c.leadsGlobally(i) && c.oneVoter(c.claims[i].stamps, c.claims[n.index].stamps) {
			c.fail("Uniqueness", n, "leads globally while node %d does, for another %v", m.id, time.Duration(c.claims[i].globalUntil-c.w.now))
			return
		}
		if c.leads(i) && !c.leadsGlobally(i) {
			elsewhere++
		}
	}
	if elsewhere > 0 {
		c.sometimes(LocalBesideGlobal)
	}
}

// oneVoter reports whether two rounds count on the vote of one process: any two
// quorums do, but where an id is used twice its processes vote on their own.
func (c *checker) oneVoter(a, b *leader.QuorumStamp) bool {
	if a == nil || b == nil || c.w.change != nil {
		return true // of two epochs one must be over, and none has rivals
	}
	for _, s := range a.Stamps {
		for _, t := range b.Stamps {
			if s.Node == t.Node && (s.Boot == t.Boot || !c.usedTwice(s.Node)) {
				return true
			}
		}
	}
	return false
}

// checkBound demands that a voter that still is the incarnation that voted is
// bound to the global leader for as long as it leads.
func (c *checker) checkBound(p *Node, s *leader.Stamp) {
	for i, q := range c.w.nodes {
		if q.id != s.Node || q.boot != s.Boot || !q.up {
			continue
		}
		lock := &c.claims[i]
		if lock.lockedTo != (timed.Incarnation{Node: p.id, Boot: p.boot}) || lock.lockTill < c.claims[p.index].globalUntil {
			c.fail("Uniqueness", q, "%s, but node %d leads globally with its vote for %v",
				c.binding(lock), p.id, time.Duration(c.claims[p.index].globalUntil-c.w.now))
		}
	}
}

// checkFreed holds a changed vote against the global leaders that count on it.
func (c *checker) checkFreed(q *Node) {
	for i, p := range c.w.nodes {
		if !c.leadsGlobally(i) || c.claims[i].stamps == nil {
			continue
		}
		for k := range c.claims[i].stamps.Stamps {
			if s := &c.claims[i].stamps.Stamps[k]; s.Node == q.id && s.Boot == q.boot {
				c.checkBound(p, s)
			}
		}
	}
}

// mark is the latest stamp of a voter behind a global lease.
type mark struct {
	leader.Stamp
	of    timed.Incarnation // the leader
	epoch uint64
}

// checkStamps demands that a new quorum timestamp is of a quorum, and that each
// of its voters says that it is later than the ones before.
func (c *checker) checkStamps(n *Node, q *leader.QuorumStamp) {
	g := c.w.global
	var who timed.Set
	for _, s := range q.Stamps {
		who.Add(s.Node)
	}
	if system := c.w.ruledBy(n); !system.IsQuorum(who) {
		c.fail("stamps", n, "leads globally with the stamps of %v, which are no quorum of %v", who, system)
		return
	}
	for _, s := range q.Stamps {
		last := g.stamped[s.Node]
		g.stamped[s.Node] = mark{s, timed.Incarnation{Node: n.id, Boot: n.boot}, q.Epoch}
		if last.epoch != q.Epoch && c.w.change != nil && c.w.change.forced {
			continue // a voter that was lost counts anew
		}
		if c.usedTwice(s.Node) || last.Node == timed.NoNode {
			continue
		}
		later, known := compareStamps(last.Stamp, s)
		switch {
		case !known && g.counts:
			c.fail("stamps", n, "the stamps %+v of %v and %+v do not compare", last.Stamp, last.of, s)
		case known && !later:
			c.fail("stamps", n, "the stamp %+v is not later than %+v, behind the lease of %v before", s, last.Stamp, last.of)
		}
	}
}

// compareStamps reports whether b is later than a, if that is known.
func compareStamps(a, b leader.Stamp) (later, known bool) {
	if a.Boot == b.Boot {
		return b.At > a.At, true
	}
	return b.Counter > a.Counter, a.Counter != b.Counter && a.Counter > 0 && b.Counter > 0
}

// checkStable demands that a global leader is deposed by nobody: none who asks
// for votes outranks it.
func (c *checker) checkStable(n *Node, e *stack.Event) {
	switch e.Lost {
	case leader.Outranked:
		if !c.leadsGlobally(n.index) {
			return // its lease had run out before it noticed
		}
		c.fail("Stability", n, "gives up leading globally for node %d, which does not", e.Peer)
	case leader.NoQuorum:
		if c.leads(n.index) {
			c.sometimes(GlobalOutlived)
		}
	}
}

// ageGlobal computes when a claim to lead globally ends in true time.
func (cl *claims) ageGlobal(n *Node) {
	cl.globalUntil = 0
	if cl.globalEnd > 0 {
		cl.globalUntil = n.clock.When(cl.globalEnd)
	}
}

func (c *checker) leadsGlobally(i int) bool { return c.w.now < c.claims[i].globalUntil }

// globalAsDue reports whether a block that is led by node i has a global leader
// exactly if it holds a quorum.
func (c *checker) globalAsDue(i int, block timed.Set) bool {
	g := c.w.global
	if c.w.change != nil {
		return c.globalInEpoch(i, block)
	}
	return g == nil || c.leadsGlobally(i) == g.system.IsQuorum(block)
}
