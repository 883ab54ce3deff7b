package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// castLive demands that in a still period what is broadcast is delivered in
// time, and that what was broadcast before has its outcome in time.
type castLive struct {
	w     *World
	k     *casting
	on    bool
	spell int64 // how long a delivery takes at most
	view  int64 // until when all hold one view
	due   []castDue
	worst time.Duration
}

// castDue is a message that must have its outcome at a time; with all, it must
// be delivered to all of its sender's block by then.
type castDue struct {
	at  int64
	id  broadcast.ID
	all bool
}

// initialSpread is by how much the clocks that a world gives its machines differ
// from each other at most.
const initialSpread = 40 * time.Millisecond

// init computes the bound.
func (l *castLive) init(w *World, k *casting) {
	l.w, l.k = w, k
	l.spell = int64(deliveryBound(w.opt.Timing, w.opt.Nodes, slices.ContainsFunc(k.traffic.Mix,
		func(o broadcast.Options) bool { return o.Order == broadcast.TimedOrder })))
	if w.external != nil {
		l.spell += int64(w.external.Spread(w.opt.Duration))
	}
}

// deliveryBound returns within which true time a broadcast is delivered to all of
// a Δ-partition that holds one up-to-date view and loses nothing, when the window
// has room for it. With nothing lost, a message takes its way to the decider, a
// decision, which waits until its decider has what was ordered before, and the
// acknowledgements: a few times a message and a process at work. What was lost
// before the world became still shows with the next packet of its sender, a
// keepalive period later at most, and is asked for a one-way timeout later, of
// one member after the other. Where there are Timed messages, those wait for the
// word of the slowest clock besides, and others behind them.
func deliveryBound(t timed.Timing, nodes int, timedToo bool) time.Duration {
	hop := t.OneWayTimeout + t.SchedulingDelay
	d := 2*t.KeepalivePeriod + t.ElectionPeriod + time.Duration(nodes+2)*t.FastThreshold + time.Duration(2*nodes+8)*hop
	d = t.MaxDrift.Wait(d)
	if timedToo {
		d += initialSpread + t.KeepalivePeriod
	}
	return d
}

// begin starts a still period.
func (l *castLive) begin() {
	live := &l.w.check.live
	l.on, l.view, l.due = true, live.since+live.view, l.due[:0]
	for _, n := range l.w.nodes {
		if !n.up || n.upset {
			continue
		}
		for _, id := range l.k.check.nodes[n.Incarnation()].mine {
			if m := l.k.check.sent[id]; m != nil && !m.outcome {
				l.expect(n, id, l.view+l.spell, false)
			}
		}
	}
}

// sent takes a message that a node has broadcast.
func (l *castLive) sent(n *Node, id broadcast.ID, m *castSent) {
	if !l.on {
		return
	}
	m.still = l.w.now > l.view // views that were up to date before may still lose a member that slept
	l.expect(n, id, max(l.w.now, l.view)+l.spell, m.still)
}

// expect demands the outcome of a message in time, unless it is to be ordered in
// quorums only and there is none.
func (l *castLive) expect(n *Node, id broadcast.ID, at int64, all bool) {
	q := l.k.traffic.Config.RequireQuorum
	if id.Class == broadcast.ClassOrdered && !q.Empty() && 2*l.block(n.id).Intersect(q).Len() <= q.Len() {
		return
	}
	l.due = append(l.due, castDue{at, id, all})
}

// block returns the block of a node.
func (l *castLive) block(id timed.NodeID) timed.Set {
	for _, b := range l.w.check.live.blocks {
		if b.Has(id) {
			return b
		}
	}
	return timed.SetOf(id)
}

// delivered measures how long a message of the still period took.
func (l *castLive) delivered(n *Node, d *broadcast.Delivery) {
	if m := l.k.check.sent[d.ID]; l.on && m != nil && m.still {
		l.worst = max(l.worst, time.Duration(l.w.now-m.at))
	}
}

// observe looks at what is due.
func (l *castLive) observe() {
	k := 0
	for ; l.on && k < len(l.due) && l.due[k].at <= l.w.now; k++ {
		l.check(&l.due[k])
	}
	if l.due = l.due[k:]; k > 0 && len(l.due) == 0 {
		l.due = nil
	}
}

func (l *castLive) check(d *castDue) {
	c := l.k.check
	m, sender := c.sent[d.id], l.w.node(d.id.Sender)
	if m == nil || sender.boot != d.id.Boot || !sender.up {
		return
	}
	since := time.Duration(l.w.check.live.since - origin)
	if !m.outcome {
		l.w.check.fail("loss", sender, "its %v (%v %v), broadcast %v after the world became still at %v, has no outcome within %v",
			d.id, m.opt.Order, m.opt.Atomicity, time.Duration(m.at-origin)-since, since, time.Duration(d.at-max(m.at, l.view)))
		return
	}
	if !d.all {
		return
	}
	for id := range l.block(sender.id).All() {
		if n := l.w.node(id); n.up && !c.nodes[n.Incarnation()].delivered[d.id] {
			l.w.check.fail("loss", n, "does not deliver %v (%v %v) within %v", d.id, m.opt.Order, m.opt.Atomicity, time.Duration(l.spell))
			return
		}
	}
}

// end finishes a still period. What is known of incarnations that have ended,
// and of messages that are settled, is of no more use then.
func (l *castLive) end() {
	l.observe()
	l.on, l.due = false, nil
	l.k.check.forget(l.w.check.live.since)
}

// forget lets go of what no promise can concern any more, when the world has been
// still for long: whoever runs is in a view of who runs, and has delivered what
// was broadcast before.
func (c *castCheck) forget(before int64) {
	needed := map[broadcast.ID]bool{}
	views := map[membership.ViewID]*castView{}
	for inc, n := range c.nodes {
		if n.dead {
			delete(c.nodes, inc)
		} else if n.view != nil {
			v := c.views[n.view.ID]
			views[n.view.ID] = v
			for _, id := range v.strict { // whoever leaves must have delivered them
				needed[id] = true
			}
		}
	}
	c.views = views
	maps.DeleteFunc(c.last, func(s castStream, _ uint64) bool { return c.nodes[s.of] == nil })
	maps.DeleteFunc(c.sent, func(id broadcast.ID, m *castSent) bool {
		gone := c.nodes[timed.Incarnation{Node: id.Sender, Boot: id.Boot}] == nil
		return m.at < before && (m.outcome || gone) && !needed[id]
	})
	for _, n := range c.nodes {
		n.mine = slices.DeleteFunc(n.mine, func(id broadcast.ID) bool { return c.sent[id] == nil || c.sent[id].outcome })
		maps.DeleteFunc(n.delivered, func(id broadcast.ID, _ bool) bool { return c.sent[id] == nil })
	}
}
