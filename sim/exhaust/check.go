package exhaust

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// granularity is the error of a bound that whole nanoseconds can cause.
const granularity = 4

// failure is a broken promise, before it is known how it came about.
type failure struct {
	check  string
	node   timed.NodeID
	detail string
}

func fail(check string, node timed.NodeID, format string, args ...any) *failure {
	return &failure{check, node, fmt.Sprintf(format, args...)}
}

// together checks the claims of two nodes at the same true time t.
func (w *world) together(p, q *claims, t int64) *failure {
	return cmp.Or(bothLead(p, q, t), bothUpToDate(p, q, t),
		voteOutlasts(p, q, t), memberBacks(p, q, t), w.aliveHears(p, q, t),
		voteOutlasts(q, p, t), memberBacks(q, p, t), w.aliveHears(q, p, t))
}

// alone checks the claims of one node against each other.
func alone(p *claims, t int64) *failure {
	if t < p.leadUntil && !p.support.Has(p.self.Node) {
		return fail("LS", p.self.Node, "leads without its own support")
	}
	return cmp.Or(voteOutlasts(p, p, t), memberBacks(p, p, t))
}

// bothLead: the support sets of two leaders do not meet (SO).
func bothLead(p, q *claims, t int64) *failure {
	if t < p.leadUntil && t < q.leadUntil && p.support.Intersects(q.support) {
		return fail("SO", p.self.Node, "leads %v while node %d leads %v", p.support, q.self.Node, q.support)
	}
	return nil
}

// bothUpToDate: views of one id have the same members (M1), and two up-to-date
// views are the same or have no member in common (M4).
func bothUpToDate(p, q *claims, t int64) *failure {
	if p.view == nil || q.view == nil {
		return nil
	}
	if p.view.ID == q.view.ID {
		if !slices.Equal(p.view.Members, q.view.Members) {
			return fail("M1", p.self.Node, "view %v has members %v here and %v at node %d",
				p.view.ID, p.view.Members, q.view.Members, q.self.Node)
		}
		return nil
	}
	if t < p.viewUntil && t < q.viewUntil && p.view.Set.Intersects(q.view.Set) {
		return fail("M4", p.self.Node, "view %v of %v is up to date while node %d's view %v of %v is",
			p.view.ID, p.view.Set, q.self.Node, q.view.ID, q.view.Set)
	}
	return nil
}

// voteOutlasts: a vote that a leader p counts on is q's, for at least as long as
// p leads.
func voteOutlasts(p, q *claims, t int64) *failure {
	if t >= p.leadUntil || !p.support.Has(q.self.Node) || p.votes[q.self.Node].Boot != q.self.Boot {
		return nil
	}
	if q.lockedTo != p.self || q.lockTill < p.leadUntil {
		return fail("SO", q.self.Node, "is locked to %v for %d ns, but node %d leads with its vote for %d ns",
			q.lockedTo, q.lockTill-t, p.self.Node, p.leadUntil-t)
	}
	return nil
}

// memberBacks: a member of p's up-to-date view is locked for as long as the view is up to
// date, to the view's leader or to a member that has inherited the view.
func memberBacks(p, q *claims, t int64) *failure {
	if t >= p.viewUntil || p.view == nil || !p.view.Has(q.self) {
		return nil
	}
	to := q.lockedTo
	owner := to == (timed.Incarnation{Node: p.view.ID.Leader, Boot: p.view.ID.Boot}) ||
		p.view.Has(to) && (to != q.self || q.inherited != nil && q.inherited.ID == p.view.ID)
	if !owner || q.lockTill < p.viewUntil {
		return fail("M4", q.self.Node, "is locked to %v for %d ns, but node %d counts on view %v for %d ns",
			q.lockedTo, q.lockTill-t, p.self.Node, p.view.ID, p.viewUntil-t)
	}
	return nil
}

// aliveHears: a peer that p counts as alive may vote, and has heard p recently.
func (w *world) aliveHears(p, q *claims, t int64) *failure {
	if !p.alive.Has(q.self.Node) || p.boots[q.self.Node] != q.self.Boot {
		return nil
	}
	if !q.ready {
		return fail("ready", p.self.Node, "counts node %d as alive, which may not vote", q.self.Node)
	}
	c := &w.opt.Timing
	if most := int64(c.MaxDrift.Wait(c.Expires) + c.FastThreshold); !q.hears.Has(p.self.Node) || t-q.heard[p.self.Node] > most {
		return fail("alive", p.self.Node, "counts node %d as alive, which has not heard it for %v",
			q.self.Node, time.Duration(t-q.heard[p.self.Node]))
	}
	return nil
}

// moved checks the changes of a node's claims by a turn.
func moved(old, now *claims, refused timed.Set, t int64) *failure {
	id := now.self.Node
	if was, is := old.lockedTo, now.lockedTo; was.Valid() && is.Valid() && was != is &&
		was != now.self && is != now.self && is != old.handed && t < old.lockTill {
		return fail("SO", id, "moves its vote from %v to %v %d ns before it is free", was, is, old.lockTill-t)
	}
	if v := now.view; v != old.view {
		switch {
		case !v.Has(now.self):
			return fail("M2", id, "is not a member of its view %v", v.ID)
		case old.view != nil && v.ID.Sequence <= old.view.ID.Sequence:
			return fail("M3", id, "installs view %v after %v", v.ID, old.view.ID)
		}
	}
	return keepsMembers(old, now, refused)
}

// keepsMembers: a leader leaves only members out that are not alive for it any more,
// refused, or started again (M6).
func keepsMembers(old, now *claims, refused timed.Set) *failure {
	p, view := now.proposal, now.committed
	if p == nil || view == nil || p == old.proposal || old.proposal != nil && old.proposal.Set == p.Set {
		return nil
	}
	gone := view.Set.Minus(p.Set).Intersect(now.alive).Minus(refused)
	for id := gone.Next(0); id != 0; id = gone.Next(id) {
		if m, _ := view.Member(id); m.Boot == now.boots[id] {
			return fail("M6", now.self.Node, "drops node %d from view %v although it is alive and did not refuse", id, view.ID)
		}
	}
	return nil
}

// atRest reports whether one node leads all, and all hold one up-to-date view
// of all.
func atRest(all []claims, t int64) bool {
	leaders := 0
	var view *membership.View
	for i := range all {
		c := &all[i]
		if t < c.leadUntil {
			if leaders++; c.support.Len() != len(all) {
				return false
			}
		}
		if c.view == nil || t >= c.viewUntil || c.view.Set.Len() != len(all) || view != nil && view.ID != c.view.ID {
			return false
		}
		view = c.view
	}
	return leaders == 1
}
