package check

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// checkGlobal checks a node's claim to lead globally after a turn: no other node leads
// globally, a quorum is bound to the leader until its lead ends, and its quorum timestamp is
// later than all earlier ones.
func (c *Checker) checkGlobal(n *Process, now timed.Instant) {
	cl, el := &c.Claims[n.Index], n.Stack.Election()
	end, leads := el.LeadingGlobally()
	if !leads {
		end = 0
	}
	stamps, _ := el.QuorumStamp(now)
	if end == cl.GlobalEnd && stamps == cl.Stamps {
		return
	}
	fresh := stamps != cl.Stamps
	cl.GlobalEnd, cl.Stamps = end, stamps
	c.digest.Mix(uint64(end))
	cl.updateGlobalUntil(n)
	if !c.LeadsGlobally(n.Index) {
		return
	}
	c.checkUnique(n)
	if stamps == nil {
		c.Fail("Uniqueness", n, "leads globally without the stamps of a quorum")
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

// checkUnique demands that no other node leads globally.
func (c *Checker) checkUnique(n *Process) {
	elsewhere := 0
	for i, m := range c.processes {
		if i == n.Index {
			continue
		}
		if c.LeadsGlobally(i) && c.oneVoter(c.Claims[i].Stamps, c.Claims[n.Index].Stamps) {
			c.Fail("Uniqueness", n, "leads globally while node %d does, for another %v", m.ID, time.Duration(c.Claims[i].globalUntil-c.Now))
			return
		}
		if c.Leads(i) && !c.LeadsGlobally(i) {
			elsewhere++
		}
	}
	if elsewhere > 0 {
		c.Sometimes(situation.LocalBesideGlobal)
	}
}

// oneVoter reports whether two rounds have the vote of one process, as any two quorums have.
// If an id is used twice, its processes vote independently.
func (c *Checker) oneVoter(a, b *leader.QuorumStamp) bool {
	if a == nil || b == nil || c.Change != nil {
		return true // with epochs there are no rivals, and one of two epochs must be over
	}
	for _, s := range a.Stamps {
		for _, t := range b.Stamps {
			if s.Node == t.Node && (s.Boot == t.Boot || !c.UsedTwice(s.Node)) {
				return true
			}
		}
	}
	return false
}

// checkBound demands that a voter, while it is still the same incarnation, is bound to the
// global leader until the lead ends.
func (c *Checker) checkBound(p *Process, s *leader.Stamp) {
	for i, q := range c.processes {
		if q.ID != s.Node || q.Boot != s.Boot || !q.Up {
			continue
		}
		lock := &c.Claims[i]
		if lock.LockedTo != p.Incarnation() || lock.LockUntil < c.Claims[p.Index].globalUntil {
			c.Fail("Uniqueness", q, "%s, but node %d leads globally with its vote for %v",
				c.binding(lock), p.ID, time.Duration(c.Claims[p.Index].globalUntil-c.Now))
		}
	}
}

// checkFreed checks a changed vote against the global leaders that count on it.
func (c *Checker) checkFreed(q *Process) {
	for i, p := range c.processes {
		if !c.LeadsGlobally(i) || c.Claims[i].Stamps == nil {
			continue
		}
		for k := range c.Claims[i].Stamps.Stamps {
			if s := &c.Claims[i].Stamps.Stamps[k]; s.Node == q.ID && s.Boot == q.Boot {
				c.checkBound(p, s)
			}
		}
	}
}

// globalLeads is the state of a Checker for a world with global leaders.
type globalLeads struct {
	system  quorum.System
	counts  bool // starts are counted, as with a state directory
	answers map[answerKey]*answerGiven
	relied  []reliance               // assurances that still hold
	stamped [timed.MaxNodes + 1]mark // the latest stamp of each voter behind a global lease
}

// FollowGlobal makes the Checker check global leadership. starts means that nodes count their
// starts, as with a state directory.
func (c *Checker) FollowGlobal(system quorum.System, starts bool) {
	c.global = &globalLeads{system: system, counts: starts, answers: map[answerKey]*answerGiven{}}
}

// mark is the latest stamp of a voter behind a global lease.
type mark struct {
	leader.Stamp
	of    timed.Incarnation // the leader
	epoch uint64
}

// checkStamps demands that a new quorum timestamp has the stamps of a quorum, and that the
// stamp of each voter is later than the voter's earlier ones.
func (c *Checker) checkStamps(n *Process, q *leader.QuorumStamp) {
	g := c.global
	var voters timed.Set
	for _, s := range q.Stamps {
		voters.Add(s.Node)
	}
	if system := c.ruledBy(n); !system.IsQuorum(voters) {
		c.Fail("stamps", n, "leads globally with the stamps of %v, which are no quorum of %v", voters, system)
		return
	}
	for _, s := range q.Stamps {
		last := g.stamped[s.Node]
		g.stamped[s.Node] = mark{s, n.Incarnation(), q.Epoch}
		if last.epoch != q.Epoch && c.Change != nil && c.Change.Forced {
			continue // a voter that was lost counts from the start
		}
		if c.UsedTwice(s.Node) || last.Node == timed.NoNode {
			continue
		}
		later, known := compareStamps(last.Stamp, s)
		switch {
		case !known && g.counts:
			c.Fail("stamps", n, "the stamps %+v of %v and %+v do not compare", last.Stamp, last.of, s)
		case known && !later:
			c.Fail("stamps", n, "the stamp %+v is not later than %+v, behind the lease of %v before", s, last.Stamp, last.of)
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

// checkStable demands that no node deposes a global leader by outranking it.
func (c *Checker) checkStable(n *Process, e *stack.Event) {
	switch e.Lost {
	case leader.Outranked:
		if !c.LeadsGlobally(n.Index) {
			return // its lease ran out before it noticed
		}
		c.Fail("Stability", n, "gives up leading globally for node %d, which does not", e.Peer)
	case leader.NoQuorum:
		if c.Leads(n.Index) {
			c.Sometimes(situation.GlobalOutlived)
		}
	}
}

// updateGlobalUntil computes when a claim to lead globally ends in true time.
func (cl *Claims) updateGlobalUntil(n *Process) {
	cl.globalUntil = 0
	if cl.GlobalEnd > 0 {
		cl.globalUntil = n.Clock.When(cl.GlobalEnd)
	}
}

// LeadsGlobally reports whether the process with an index leads globally.
func (c *Checker) LeadsGlobally(i int) bool { return c.Now < c.Claims[i].globalUntil }

// globalAsDue reports whether node i, the leader of a block, leads globally if and only if
// the block is a quorum.
func (c *Checker) globalAsDue(i int, block timed.Set) bool {
	g := c.global
	if c.Change != nil {
		return c.globalInEpoch(i, block)
	}
	return g == nil || c.LeadsGlobally(i) == g.system.IsQuorum(block)
}
