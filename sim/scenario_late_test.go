package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Scenarios of members that went elsewhere for a while, and of words that come
// late: what random worlds come across in one seed of hundreds.

// until performs events until something is so. It returns false when a check
// has failed, or it was not so in time.
func (w *World) until(d time.Duration, so func() bool) bool { return w.RunUntil(d, so) == nil }

// report returns what a node would tell a leader of its views.
func report(n *Node) (r membership.Report) {
	n.proc.Stack.Membership().FillReport(&r)
	return r
}

// cutBoth cuts or mends both directions between two nodes.
func (w *World) cutBoth(a, b *Node, cut bool) {
	w.links[a.proc.Index][b.proc.Index].cut, w.links[b.proc.Index][a.proc.Index].cut = cut, cut
}

// outcome returns what went wrong in a scenario: a promise, or what it says.
func (w *World) outcome(format string, args ...any) error {
	if w.failed != nil {
		return w.failed
	}
	return fmt.Errorf("seed %d: %s", w.seed, fmt.Sprintf(format, args...))
}

// detour is three nodes: a leader, a member of its group, and a rival of higher
// rank that the leader does not hear. Peers stay alive for long enough for the
// member to be led by the rival and come back before the leader misses it.
type detour struct {
	*World
	rival, leader, member *Node
}

func newDetour(seed uint64, opt Options) *detour {
	opt.Calm, opt.Nodes, opt.RankBy = true, 3, leader.ByID
	opt = opt.withDefaults()
	opt.Timing.Expires *= 5
	w := newWorld(seed, opt)
	d := &detour{w, w.nodes[0], w.nodes[1], w.nodes[2]}
	d.cutBoth(d.rival, d.leader, true)
	d.cutBoth(d.rival, d.member, true)
	return d
}

func (d *detour) period() time.Duration { return d.opt.Timing.Period() }

// acknowledged returns what a node acknowledged last.
func (n *Node) acknowledged() membership.ViewID { return report(n).Acknowledged }

// away lets the member follow the rival, acknowledge its view, and be free again.
func (d *detour) away() bool {
	d.cutBoth(d.rival, d.member, false)
	d.cutBoth(d.leader, d.member, true)
	if !d.until(3*d.opt.Timing.Expires/5, func() bool { return d.member.acknowledged().Leader == d.rival.proc.ID }) {
		return false
	}
	d.resign(d.rival)
	if !d.until(d.period(), func() bool {
		return !d.check.Leads(d.rival.proc.Index) && d.check.Claims[d.member.proc.Index].LockedTo.Node != d.rival.proc.ID
	}) {
		return false
	}
	d.cutBoth(d.rival, d.member, true)
	d.cutBoth(d.leader, d.member, false)
	return true
}

// together demands that leader and member hold a fresh view within the bound.
func (d *detour) together() error {
	pair := timed.SetOf(d.leader.proc.ID, d.member.proc.ID)
	if !d.runUntil(d.now + int64(d.bounds.View)) {
		return d.failed
	}
	for _, n := range []*Node{d.leader, d.member} {
		if v := d.check.Claims[n.proc.Index].View; !d.check.Fresh(n.proc.Index) || v.Set != pair {
			return d.outcome("node %d holds no fresh view of %v after the member came back", n.proc.ID, pair)
		}
	}
	return nil
}

// memberThatWentOn has a member acknowledge the rival's view between two
// renewals of its own: the leader must propose anew (membership, rule 6).
func memberThatWentOn(seed uint64, opt Options) error {
	d := newDetour(seed, opt)
	if !d.runUntil(d.now + int64(d.bounds.View+d.bounds.Rejoin)) {
		return d.failed
	}
	if !d.away() {
		return d.outcome("the member did not follow the rival")
	}
	return d.together()
}

// takenAndReturned has a member acknowledge the leader's open proposal, without
// the leader's knowing, and then the rival's, which is above it: the leader's is
// overtaken, and must be made anew (membership, rule 2).
func takenAndReturned(seed uint64, opt Options) error {
	d := newDetour(seed, opt)
	d.cutBoth(d.leader, d.member, true)
	if !d.runUntil(d.now + int64(d.bounds.View+d.bounds.Rejoin)) {
		return d.failed
	}
	d.cutBoth(d.leader, d.member, false)
	open := func() *membership.View { return d.leader.proc.Stack.Membership().Proposal() }
	if !d.until(d.bounds.View, func() bool { return open() != nil && open().Set.Has(d.member.proc.ID) }) {
		return d.outcome("the leader proposed no view with the member")
	}
	d.links[d.member.proc.Index][d.leader.proc.Index].cut = true
	if !d.until(2*d.period(), func() bool { return d.member.acknowledged() == open().ID }) {
		return d.outcome("the member did not acknowledge %v", open().ID)
	}
	if !d.away() {
		return d.outcome("the member did not follow the rival")
	}
	return d.together()
}

// led returns the node that leads all, or nil.
func (w *World) led() *Node {
	for i, n := range w.nodes {
		if w.check.Leads(i) && w.check.Claims[i].Support == w.all() {
			return n
		}
	}
	return nil
}

// lateConfirmation has a member's word that it has dropped a view reach the
// leader when that has come back to the lead, just before it gives up again. The
// word must not free the votes behind the view that it led last.
func lateConfirmation(seed uint64, opt Options) error { return confirmedLate(seed, opt, true) }

// confirmationOfAnother has that word come just after, in place of the member's
// word about the last view, of whose end it has not heard.
func confirmationOfAnother(seed uint64, opt Options) error { return confirmedLate(seed, opt, false) }

func confirmedLate(seed uint64, opt Options, before bool) error {
	opt.Calm = true
	w := newWorld(seed, opt.withDefaults())
	t := &w.opt.Timing
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	for range 10 {
		p := w.led()
		if p == nil {
			return w.outcome("nobody leads all")
		}
		var m *Node
		for m = p; m == p; m = w.anyNode() {
		}
		// Long enough for the lead to go and come back.
		late := int64(3 * w.bounds.View)
		back := &w.links[m.proc.Index][p.proc.Index]
		w.resign(p)
		arrives := w.now + late
		back.slow = late
		w.runUntil(w.now + int64(2*(t.OneWayTimeout+t.SchedulingDelay)))
		back.slow = 0
		if !w.runUntil(w.now + int64(w.bounds.View)) {
			return w.failed
		}
		for q := w.led(); q != p; q = w.led() { // until the lead is back
			if q == nil || w.now > arrives-int64(w.bounds.View) {
				break
			}
			w.resign(q)
			if !w.runUntil(w.now + int64(w.bounds.Elect)) {
				return w.failed
			}
		}
		if !w.runUntil(arrives) {
			return w.failed
		}
		if before && !w.runUntil(w.now+int64(2*(t.OneWayTimeout+t.SchedulingDelay))) {
			return w.failed
		}
		if w.check.Leads(p.proc.Index) {
			w.links[p.proc.Index][m.proc.Index].dropNext = wire.FrameResign
			w.resign(p)
		}
		if !w.runUntil(w.now + int64(w.bounds.View)) {
			return w.failed
		}
	}
	return nil
}

// wordOfAFormerLeader delays packets of a leader until it leads no more, and
// its later ones do not come through: what they say about it is overtaken, and
// must not make their receiver refuse the present leader.
func wordOfAFormerLeader(seed uint64, opt Options) error {
	opt.Calm = true
	opt = opt.withDefaults()
	// Long enough for a peer of whom nothing comes to be alive while leases end.
	opt.Timing.Expires *= 4
	w := newWorld(seed, opt)
	t := &w.opt.Timing
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	p := w.led()
	if p == nil {
		return w.outcome("nobody leads all")
	}
	m := w.nodes[(p.proc.Index+len(w.nodes)-1)%len(w.nodes)] // not the next leader
	l := &w.links[p.proc.Index][m.proc.Index]
	sent := w.now
	l.slow = int64(2 * w.bounds.View)
	w.runUntil(w.now + int64(2*t.KeepalivePeriod))
	l.slow = 0
	w.resign(p)
	if !w.runUntil(sent + int64(2*w.bounds.View-t.KeepalivePeriod)) {
		return w.failed
	}
	if q := w.led(); q == nil || q == p || q == m {
		return w.outcome("the lead did not go from node %d to another than node %d", p.proc.ID, m.proc.ID)
	}
	before := w.check.Counts.Situations[situation.ViewStale]
	l.cut = true
	if !w.runUntil(w.now + int64(2*t.KeepalivePeriod+t.Expires/2)) {
		return w.failed
	}
	if w.check.Counts.Situations[situation.ViewStale] != before {
		return w.outcome("late words of node %d made views stale", p.proc.ID)
	}
	return nil
}

// longLeases makes leases long against everything else.
func longLeases(opt Options) Options {
	opt.Calm, opt.Nodes, opt.RankBy = true, 4, leader.ByID
	opt = opt.withDefaults()
	opt.Timing.LockTime *= 6
	opt.Timing.MaxLockTime = opt.Timing.LockTime
	return opt
}

// restartedVoter restarts a voter at once, out of its leader's hearing and
// within that of another, whose round is still open when it is asked: it must
// not vote while its earlier incarnation is bound (rule 5).
func restartedVoter(seed uint64, opt Options) error {
	w := newWorld(seed, longLeases(opt))
	// The answer that keeps the other leader's round open is the slowest.
	w.baseline.MaxDelay = min(w.baseline.MaxDelay, w.opt.Timing.OneWayTimeout/4)
	w.baseline.MinDelay = min(w.baseline.MinDelay, w.baseline.MaxDelay)
	w.endFaults()
	a, b, c, m := w.nodes[0], w.nodes[1], w.nodes[2], w.nodes[3]
	w.split([]timed.Set{timed.SetOf(a.proc.ID, m.proc.ID), timed.SetOf(b.proc.ID, c.proc.ID)}, false)
	w.links[c.proc.Index][b.proc.Index].slow = int64(w.opt.Timing.OneWayTimeout) / 2
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	w.crash(m)
	w.cutBoth(a, m, true)
	w.cutBoth(b, m, false)
	w.restart(m)
	if !w.runUntil(w.now + int64(w.opt.Timing.LockTime)) {
		return w.failed
	}
	return nil
}

// ledAgain has a leader give up for a candidate that is gone at once, and lead
// again without a member that did not hear of it: the next view must wait for
// the lease that was granted before (membership, rule 7).
func ledAgain(seed uint64, opt Options) error {
	w := newWorld(seed, longLeases(opt))
	better, p, m := w.nodes[0], w.nodes[1], w.nodes[3]
	w.split([]timed.Set{timed.SetOf(better.proc.ID), w.all().Without(better.proc.ID)}, false)
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	w.cutBoth(p, m, true)
	w.cutBoth(p, better, false)
	if !w.until(w.opt.Timing.LockTime, func() bool { return !w.check.Leads(p.proc.Index) }) {
		return w.outcome("node %d did not give up for node %d", p.proc.ID, better.proc.ID)
	}
	w.cutBoth(p, better, true)
	if !w.runUntil(w.now + int64(w.opt.Timing.LockTime)) {
		return w.failed
	}
	return nil
}

// silentSupporter loses all answers of a follower that is heard otherwise. In
// mode Strict the leader must not go on without it: silence is no excuse.
func silentSupporter(seed uint64, opt Options) error {
	opt.Calm, opt.Mode, opt.Nodes = true, leader.Strict, 3
	w := newWorld(seed, opt.withDefaults())
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	p := w.led()
	if p == nil {
		return w.outcome("nobody leads all")
	}
	m := w.nodes[(p.proc.Index+1)%3]
	w.links[m.proc.Index][p.proc.Index].dropAll = wire.FrameReply
	// One round, in which the follower has not expired yet.
	t := &w.opt.Timing
	if !w.runUntil(w.now + int64(t.Period()+t.RoundTime()+t.SchedulingDelay)) {
		return w.failed
	}
	if w.check.Leads(p.proc.Index) && !w.check.Claims[p.proc.Index].Support.Has(m.proc.ID) {
		return w.outcome("node %d leads without node %d, which it hears", p.proc.ID, m.proc.ID)
	}
	return nil
}

// cloneIsNoticed clones the process of a still world, and demands that another process
// finds out before it could have lost one of the two by silence. (The evidence may be in a
// packet that it sleeps through, for a period.) Not all others need to: twins may send
// so regularly that their counters never meet at a peer.
func cloneIsNoticed(seed uint64, opt Options) error {
	opt.Calm = true
	w := newWorld(seed, opt.withDefaults())
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	id := timed.NodeID(1 + seed%uint64(w.opt.Nodes))
	if err := w.Inject(fault.Fault{Kind: fault.Clone, Node: id}); err != nil {
		return err
	}
	noticed := func() bool { return slices.Contains(w.check.Clones[:], true) }
	if !w.until(w.opt.Timing.Expires+w.opt.Timing.Period(), noticed) {
		return w.outcome("nobody noticed that node %d was cloned", id)
	}
	return nil
}
