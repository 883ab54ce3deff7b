package sim

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// collatedGroup is a still group of nine that collates as soon as it can, on a
// network and processes that are better than they need to be: a tree of three
// levels is meant for those.
type collatedGroup struct {
	*World
	head *Node // who leads all
	tree leader.Tree
}

func newCollatedGroup(seed uint64, opt Options) (*collatedGroup, error) {
	opt.Calm, opt.Nodes, opt.Collation = true, 9, leader.Collation{Above: 3, Fanout: 2}
	w := newWorld(seed, opt.withDefaults())
	t := &w.opt.Timing
	w.baseline.MaxDelay = min(w.baseline.MaxDelay, t.OneWayTimeout/20)
	w.baseline.MinDelay = min(w.baseline.MinDelay, w.baseline.MaxDelay)
	w.baseline.Lateness = min(w.baseline.Lateness, t.SchedulingDelay/20)
	w.endFaults()
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return nil, w.failed
	}
	g := &collatedGroup{World: w, head: w.led()}
	if g.head == nil {
		return nil, w.outcome("nobody leads all")
	}
	g.tree = leader.Tree{Fanout: uint8(w.opt.Collation.Fanout), Target: w.all().Without(g.head.proc.ID)}
	return g, nil
}

// round lets the leader's next round begin and end, and returns who of those
// that run has not given a vote in it.
func (g *collatedGroup) round() (missing timed.Set, ok bool) {
	el := g.head.proc.Stack.Election()
	before := el.LastRequest()
	t := &g.opt.Timing
	if !g.until(2*t.Period()+t.SchedulingDelay, func() bool { return el.LastRequest() != before }) {
		return missing, false
	}
	number := el.LastRequest()
	limit := g.now + int64(t.RoundTime())
	for g.now < limit && el.LastRequest() == number && g.step() {
	}
	for _, n := range g.nodes {
		if v, _ := el.Vote(n.proc.ID); n.proc.Up && n != g.head && v.Number < number {
			missing.Add(n.proc.ID)
		}
	}
	return missing, g.failed == nil
}

// crashedLeaf crashes a node that answers through another: in the very next
// round, all others must be counted.
func crashedLeaf(seed uint64, opt Options) error {
	g, err := newCollatedGroup(seed, opt)
	if err != nil {
		return err
	}
	for _, n := range g.nodes {
		if p, ok := g.tree.Place(n.proc.ID); ok && p.Below.Empty() && p.Level == 2+int(seed%2) {
			g.crash(n)
			break
		}
	}
	if missing, ok := g.round(); !ok || !missing.Empty() {
		return g.outcome("a leaf crashed, and %v did not reach node %d in the next round", missing, g.head.proc.ID)
	}
	return nil
}

// crashedInner crashes a node through which others answer: one round misses
// them, and the next one must count them, although that node still is alive for
// everybody.
func crashedInner(seed uint64, opt Options) error {
	g, err := newCollatedGroup(seed, opt)
	if err != nil {
		return err
	}
	var branch timed.Set
	for _, n := range g.nodes {
		if p, ok := g.tree.Place(n.proc.ID); ok && !p.Below.Empty() {
			branch = p.Below
			g.crash(n)
			break
		}
	}
	missing, ok := g.round()
	if !ok || !missing.Subset(branch) {
		return g.outcome("the crash of an inner node cost %v a round, and %v were below it", missing, branch)
	}
	if missing, ok = g.round(); !ok || !missing.Empty() {
		return g.outcome("an inner node crashed, and %v did not reach node %d in the round after next", missing, g.head.proc.ID)
	}
	return nil
}

// cutFromTheLeader cuts the way from a follower to its leader while the way back
// and all others work, so that it answers by way of others alone. It must not
// stay alive like that: its place is beside the leader only as long as both can
// speak to each other.
func cutFromTheLeader(seed uint64, opt Options) error {
	g, err := newCollatedGroup(seed, opt)
	if err != nil {
		return err
	}
	for _, n := range g.nodes {
		if p, ok := g.tree.Place(n.proc.ID); ok && p.Parent != timed.NoNode {
			g.links[n.proc.Index][g.head.proc.Index].cut = true
			t := &g.opt.Timing
			gone := func() bool { return !g.head.proc.Stack.Datagram().Alive(g.head.tick(g.now)).Has(n.proc.ID) }
			limit := t.MaxDrift.Upper(t.WordLasts()+t.Expires) + 2*t.FastThreshold
			if !g.until(limit, gone) {
				return g.outcome("node %d is alive for its leader after %v, which hears it by way of others only", n.proc.ID, limit)
			}
			return nil
		}
	}
	return g.outcome("nobody answers by way of others")
}

// cutFromTheParent cuts a follower off from the node through which it answers.
// That costs one round: from then on it answers directly, until it knows for
// itself that its parent is gone.
func cutFromTheParent(seed uint64, opt Options) error {
	g, err := newCollatedGroup(seed, opt)
	if err != nil {
		return err
	}
	for _, n := range g.nodes {
		p, ok := g.tree.Place(n.proc.ID)
		if !ok || p.Parent == timed.NoNode {
			continue
		}
		g.cutBoth(n, g.node(p.Parent), true)
		lost := 0
		for end := g.now + int64(2*g.opt.Timing.Expires); g.now < end; {
			missing, ok := g.round()
			if !ok || !missing.Subset(p.Below.With(n.proc.ID)) {
				return g.outcome("the link between %d and %d is cut, and %v did not reach the leader", n.proc.ID, p.Parent, missing)
			}
			if !missing.Empty() {
				lost++
			}
		}
		if lost > 1 {
			return g.outcome("the link between %d and %d is cut, and %d rounds missed somebody", n.proc.ID, p.Parent, lost)
		}
		return nil
	}
	return g.outcome("nobody answers by way of others")
}
