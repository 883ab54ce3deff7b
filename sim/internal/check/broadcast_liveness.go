package check

import (
	"maps"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// broadcastLiveness demands that messages of a still period are delivered in time, and
// that earlier messages have their outcome in time.
type broadcastLiveness struct {
	k     *Broadcasts
	on    bool
	spell int64 // the longest time that a delivery may take
	view  int64 // the time by which all hold one view
	due   []dueMessage
	Worst time.Duration
	// wrongWalls says that some wall clocks are wrong when processes start.
	wrongWalls bool

	retry int64        // the longest time that a delivery may take in a calm world that loses one packet
	soon  []dueMessage // by that bound
}

// dueMessage is a message whose outcome is due at a time. If all is set, the message must be
// delivered to all of its sender's block by then.
type dueMessage struct {
	at  int64
	id  broadcast.ID
	all bool
}

// initialSpread bounds the difference between the clocks that a world gives its
// machines.
const initialSpread = 40 * time.Millisecond

// init computes the bound.
func (l *broadcastLiveness) init(k *Broadcasts, t *fault.Traffic, duration time.Duration) {
	l.k = k
	timed := slices.ContainsFunc(t.Mix, func(o broadcast.Options) bool { return o.Order == broadcast.TimedOrder })
	l.spell = int64(DeliveryBound(k.checker.Timing, k.checker.Nodes, timed))
	l.retry = int64(retryBound(&k.checker.Timing, timed))
	if l.wrongWalls = t.WrongWalls > 0; l.wrongWalls { // messages of other views may be stamped far ahead
		l.spell += 2 * int64(k.checker.Timing.Expires)
	}
	if s := k.checker.Servers; s != nil {
		l.spell += int64(s.Spread(duration))
	}
}

// DeliveryBound returns the true time within which a broadcast reaches all of a
// Δ-partition that holds one up-to-date view and loses nothing, if the window has room
// for it.
//
// Without losses, a message takes its way to the decider, then a decision, and then the
// acknowledgements; a decision waits until its decider has all that was ordered before.
// Each of these takes the delay of a message and the time of a process at work. A loss
// from before the world became still shows with the next packet of its sender, at most a
// keepalive period later. The receiver asks one member after the other for the lost
// message, each a one-way timeout later. With timed messages, these wait for the slowest
// clock, and other messages wait behind them.
func DeliveryBound(t timed.Timing, nodes int, timedToo bool) time.Duration {
	hop := t.OneWayTimeout + t.SchedulingDelay
	d := 2*t.KeepalivePeriod + t.ElectionPeriod + time.Duration(nodes+2)*t.FastThreshold + time.Duration(2*nodes+8)*hop
	d = t.MaxDrift.Wait(d)
	if timedToo {
		d += initialSpread + t.KeepalivePeriod
	}
	return d
}

// retryBound returns the true time within which a broadcast reaches all members of a calm
// world that loses one packet.
//
// A loss shows with the next packet of its sender, at most a keepalive period later. The
// receiver waits for the time of a packet, asks, and gets the answer. Besides these four
// hops, the message takes one to the decider, and the acknowledgements another one. A timed
// message waits for the promises of all members, which come with keepalives.
func retryBound(t *timed.Timing, timedToo bool) time.Duration {
	d := t.KeepalivePeriod + 6*(t.OneWayTimeout+t.SchedulingDelay)
	if timedToo {
		d += t.KeepalivePeriod
	}
	return t.MaxDrift.Wait(d)
}

// noteLoss postpones the due times of the messages under way when a packet is lost.
func (l *broadcastLiveness) noteLoss() {
	for i := range l.soon {
		l.soon[i].at = max(l.soon[i].at, l.k.checker.Now+l.retry)
	}
}

// begin starts a still period.
func (l *broadcastLiveness) begin() {
	live := &l.k.checker.Live
	l.on, l.view, l.due, l.soon = true, live.since+live.view, l.due[:0], l.soon[:0]
	for _, n := range l.k.checker.processes {
		if !n.Up || n.Upset {
			continue
		}
		for _, id := range l.k.nodes[n.Incarnation()].mine {
			if m := l.k.Sent[id]; m != nil && !m.Outcome {
				l.expect(n, id, l.view+l.spell, false)
			}
		}
	}
}

// Sent records a message that a node has broadcast.
func (l *broadcastLiveness) Sent(n *Process, id broadcast.ID, m *sentMessage) {
	if !l.on {
		return
	}
	m.still = l.k.checker.Now > l.view // until then, a view may still lose a member that slept
	if m.still && l.k.checker.Single && l.canOrder(n, id.Class) {
		l.soon = append(l.soon, dueMessage{l.k.checker.Now + l.retry, id, true})
	}
	l.expect(n, id, max(l.k.checker.Now, l.view)+l.spell, m.still)
}

// expect demands the outcome of a message in time, if it can be ordered.
func (l *broadcastLiveness) expect(n *Process, id broadcast.ID, at int64, all bool) {
	if l.canOrder(n, id.Class) {
		l.due = append(l.due, dueMessage{at, id, all})
	}
}

// canOrder reports whether messages of a class from a node can be ordered: ordered messages
// may need a quorum in the node's block.
func (l *broadcastLiveness) canOrder(n *Process, class broadcast.Class) bool {
	q := n.Stack.Order().System
	return class != broadcast.ClassOrdered || q == nil || q.IsQuorum(l.k.checker.Live.block(n.ID))
}

// Delivered measures how long a message of the still period took. With wrong wall clocks it
// demands that a Timed one is stamped by group time: the clocks of earlier views leave no trace.
// A leader whose clock steps back during a view does: no stamp of the view is smaller than those
// that were promised before.
func (l *broadcastLiveness) Delivered(view *membership.View, d *broadcast.Delivery) {
	m := l.k.Sent[d.ID]
	if !l.on || m == nil || !m.still {
		return
	}
	l.Worst = max(l.Worst, time.Duration(l.k.checker.Now-m.At))
	if most := 2 * l.k.checker.Timing.Expires; l.wrongWalls && d.Order == broadcast.TimedOrder && d.Deviation > most && !l.k.setBack(view) {
		l.k.fail("stamp", d.Sender, "the stamp of %v, broadcast in a still period, may be wrong by %v, more than %v", d.ID, d.Deviation, most)
	}
}

// noteStep notes that the clock of a node has stepped, if it leads the view of its broadcast.
func (c *Broadcasts) noteStep(n *Process, by time.Duration) {
	m := c.nodes[n.Incarnation()]
	if m == nil || m.view == nil || m.view.ID.Leader != n.ID || by >= -2*c.checker.Timing.Expires {
		return
	}
	c.views[m.view.ID].setBack = true
}

// setBack reports whether the clock of a view's leader has stepped back in it.
func (c *Broadcasts) setBack(view *membership.View) bool {
	v := c.views[view.ID]
	return v != nil && v.setBack
}

// observe checks all messages that are due.
func (l *broadcastLiveness) observe() {
	for ; l.on && len(l.soon) > 0 && l.soon[0].at <= l.k.checker.Now; l.soon = l.soon[1:] {
		l.checkSoon(&l.soon[0])
	}
	k := 0
	for ; l.on && k < len(l.due) && l.due[k].at <= l.k.checker.Now; k++ {
		l.check(&l.due[k])
	}
	if l.due = l.due[k:]; k > 0 && len(l.due) == 0 {
		l.due = nil
	}
}

// checkSoon demands that all members of a calm world have a message by now.
func (l *broadcastLiveness) checkSoon(d *dueMessage) {
	m, sender := l.k.Sent[d.id], l.k.checker.processes[d.id.Sender-1]
	if m == nil || sender.Boot != d.id.Boot || !sender.Up {
		return
	}
	for id := range l.k.checker.Live.block(sender.ID).All() {
		if n := l.k.checker.processes[id-1]; n.Up && !l.k.nodes[n.Incarnation()].delivered[d.id] {
			l.k.checker.Fail("retry", n, "does not deliver %v (%v %v), broadcast %v ago, %v after a packet was lost", d.id, m.opt.Order, m.opt.Atomicity,
				time.Duration(l.k.checker.Now-m.At), time.Duration(l.k.checker.Now-l.k.checker.Live.mend.lost))
			return
		}
	}
}

func (l *broadcastLiveness) check(d *dueMessage) {
	c := l.k
	m, sender := c.Sent[d.id], l.k.checker.processes[d.id.Sender-1]
	if m == nil || sender.Boot != d.id.Boot || !sender.Up {
		return
	}
	since := time.Duration(l.k.checker.Live.since - l.k.checker.Start)
	if !m.Outcome {
		l.k.checker.Fail("loss", sender, "its %v (%v %v), broadcast %v after the world became still at %v, has no outcome within %v",
			d.id, m.opt.Order, m.opt.Atomicity, time.Duration(m.At-l.k.checker.Start)-since, since, time.Duration(d.at-max(m.At, l.view)))
		return
	}
	if !d.all {
		return
	}
	for id := range l.k.checker.Live.block(sender.ID).All() {
		if n := l.k.checker.processes[id-1]; n.Up && !c.nodes[n.Incarnation()].delivered[d.id] {
			l.k.checker.Fail("loss", n, "does not deliver %v (%v %v) within %v", d.id, m.opt.Order, m.opt.Atomicity, time.Duration(l.spell))
			return
		}
	}
}

// end finishes a still period, and forgets incarnations that have ended and messages that
// have their outcome.
func (l *broadcastLiveness) end() {
	l.observe()
	l.on, l.due = false, nil
	l.k.forget(l.k.checker.Live.since)
}

// forget drops the records that no promise concerns any more. After a still period all
// running nodes are in a view of running nodes, and have delivered all earlier messages.
func (c *Broadcasts) forget(before int64) {
	needed := map[broadcast.ID]bool{}
	views := map[membership.ViewID]*viewLog{}
	for inc, n := range c.nodes {
		if n.dead {
			delete(c.nodes, inc)
		} else if n.view != nil {
			v := c.views[n.view.ID]
			views[n.view.ID] = v
			for _, id := range slices.Concat(v.strict, v.sequence[v.sure:]) { // a node that leaves the view may have to have delivered them
				needed[id] = true
			}
		}
	}
	c.views = views
	maps.DeleteFunc(c.last, func(s stream, _ uint64) bool { return c.nodes[s.of] == nil })
	maps.DeleteFunc(c.Sent, func(id broadcast.ID, m *sentMessage) bool {
		gone := c.nodes[timed.Incarnation{Node: id.Sender, Boot: id.Boot}] == nil
		return m.At < before && (m.Outcome || gone) && !needed[id]
	})
	for _, n := range c.nodes {
		n.mine = slices.DeleteFunc(n.mine, func(id broadcast.ID) bool { return c.Sent[id] == nil || c.Sent[id].Outcome })
		maps.DeleteFunc(n.delivered, func(id broadcast.ID, _ bool) bool { return c.Sent[id] == nil })
	}
}
