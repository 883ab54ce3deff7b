package check

import (
	"bytes"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Broadcasts checks broadcasts and deliveries against the promises of the broadcast
// layer. The world reports them in order.
type Broadcasts struct {
	checker *Checker
	Live    broadcastLiveness
	// limit is how many bytes may wait for an application, and how many more for
	// each view that has begun since it took anything.
	limit  [2]int
	Count  int           // messages broadcast
	latest int64         // when the latest of them was
	quorum quorum.System // nil: messages are ordered in every view
	drift  timed.Drift

	nodes map[timed.Incarnation]*member
	Sent  map[broadcast.ID]*sentMessage
	views map[membership.ViewID]*viewLog
	last  map[stream]uint64 // the last sequence that a decision ordered or a node delivered
}

type stream struct {
	of    timed.Incarnation
	class broadcast.Class
}

// sentMessage is a message as it was broadcast.
type sentMessage struct {
	Payload  []byte
	opt      broadcast.Options
	At       int64
	first    uint64 // sequence of its first fragment
	timeline clocksync.TimelineID
	Outcome  bool
	still    bool // broadcast in a still period, in which all must hold their view
}

// member is the record of one incarnation.
type member struct {
	inc       timed.Incarnation
	st        *stack.Stack
	dead      bool
	view      *membership.View
	position  uint64
	flushed   bool // a delivery of the present view was
	sequence  map[stream]uint64
	delivered map[broadcast.ID]bool
	inView    []broadcast.ID // delivered in the present view
	regular   int            // the number of them before the transition
	next      *membership.View
	lastTimed broadcast.Delivery
	mine      []broadcast.ID // without an outcome, and some with one
	own       [2]uint64      // the last sequences given, by class
}

// viewLog is the record of a view, of all nodes together.
type viewLog struct {
	members  []membership.Member
	sequence []broadcast.ID // one global order: all deliveries are prefixes
	strict   []broadcast.ID // delivered as Strict by some node, or in the order before such a one
	sure     int            // how much of the sequence is in strict
	left     []*member
	moves    map[membership.ViewID]move
	setBack  bool // its leader's clock has stepped back further than clocks of a view may be apart
}

// move is the deliveries of the members that moved together from one view to the next.
type move struct {
	by           timed.NodeID
	regular, all digests
	nReg, nAll   int
}

// FollowBroadcast makes the Checker check a broadcast with some traffic.
func (c *Checker) FollowBroadcast(t *fault.Traffic, duration time.Duration) *Broadcasts {
	k := &Broadcasts{checker: c, quorum: t.Config.Quorum, drift: c.Timing.MaxDrift, limit: backlogOf(&t.Config, c.Nodes),
		nodes: map[timed.Incarnation]*member{}, Sent: map[broadcast.ID]*sentMessage{},
		views: map[membership.ViewID]*viewLog{}, last: map[stream]uint64{}}
	k.Live.init(k, t, duration)
	c.cast = k
	return k
}

func (c *Broadcasts) fail(check string, node timed.NodeID, format string, args ...any) {
	c.checker.FailAt(check, node, format, args...)
}

func (c *Broadcasts) sometimes(s situation.Kind) { c.checker.Sometimes(s) }

// backlogOf returns how many bytes may wait for an application, and how many more for each
// view that begins meanwhile. In one turn a node may get and acknowledge a whole window
// before it stops its acknowledgements; then a second window can follow. Each sender may
// fill a window, because it may come from a view of its own, and exceed it by half and by
// one message of each class.
func backlogOf(c *broadcast.Config, nodes int) (limit [2]int) {
	x := c.WithDefaults()
	frags := (x.MaxPayload + x.PacketBytes - 1) / x.PacketBytes
	window := nodes * (x.Window*3/2 + 2*(x.MaxPayload+frags*castOverhead))
	return [2]int{x.Backlog + 2*window, window}
}

// castOverhead is how many bytes a message counts in the window and in the backlog besides
// its payload.
const castOverhead = 64

// Started records the beginning of an incarnation.
func (c *Broadcasts) Started(inc timed.Incarnation, st *stack.Stack) {
	c.nodes[inc] = &member{inc: inc, st: st, sequence: map[stream]uint64{}, delivered: map[broadcast.ID]bool{}}
}

// Broadcast records a message that an incarnation broadcasts, and returns the record.
func (c *Broadcasts) Broadcast(inc timed.Incarnation, id broadcast.ID, payload []byte, opt broadcast.Options,
	at int64, timeline clocksync.TimelineID) *sentMessage {
	if c.Sent[id] != nil {
		c.fail("id", inc.Node, "gives the id %v twice", id)
	}
	n := c.nodes[inc]
	m := &sentMessage{Payload: bytes.Clone(payload), opt: opt, At: at, timeline: timeline, first: n.own[id.Class] + 1}
	c.Sent[id], c.Count, c.latest = m, c.Count+1, at
	n.mine, n.own[id.Class] = append(n.mine, id), id.Sequence
	return m
}

// holds reports whether an incarnation holds a message, or did when it crashed. One that has
// acknowledged a message, and began a view behind it, whose base says that others have ordered it,
// counts as well: what it acknowledged was true.
func (c *Broadcasts) holds(i timed.Incarnation, id broadcast.ID) bool {
	n := c.nodes[i]
	return n != nil && (n.st.BroadcastState().Holds(id) || n.delivered[id])
}

// decided records a decision as its issuer sends it.
func (c *Broadcasts) decided(id membership.ViewID, d *broadcast.Decision) {
	v := c.views[id]
	if v == nil {
		return // an old packet of a view that the issuer alone installed
	}
	for _, r := range d.Ranges {
		m := v.members[r.Member].Incarnation
		key := stream{m, r.Class}
		c.last[key] = max(c.last[key], r.To)
		if r.Class == broadcast.ClassOrdered && c.quorum != nil {
			var set timed.Set
			for _, m := range v.members {
				set.Add(m.Node)
			}
			if !c.quorum.IsQuorum(set) {
				c.fail("quorum", m.Node, "its messages are ordered in view %v of %v", id, set)
			}
		}
	}
}

// Installed checks the beginning of a view at a node.
func (c *Broadcasts) Installed(inc timed.Incarnation, v *membership.View) {
	n := c.nodes[inc]
	if n.view != nil {
		c.leave(n, v)
	}
	c.countInstalled(n, v)
	n.view, n.position, n.flushed, n.inView, n.regular, n.next = v, 0, false, nil, 0, nil
	n.lastTimed = broadcast.Delivery{}
	if c.views[v.ID] == nil {
		c.views[v.ID] = &viewLog{members: v.Members, moves: map[membership.ViewID]move{}}
	}
}

// Transition checks the mark between regular and transitional deliveries.
func (c *Broadcasts) Transition(inc timed.Incarnation, view, next *membership.View, along timed.Set) {
	n := c.nodes[inc]
	if n.view == nil || view.ID != n.view.ID {
		c.fail("transition", inc.Node, "leaves %v but is in %v", view.ID, n.view)
		return
	}
	if along != next.Transitional(view.ID) {
		c.fail("transition", inc.Node, "comes along with %v, not with %v", along, next.Transitional(view.ID))
	}
	n.next, n.regular = next, len(n.inView)
}

// leave checks extended virtual synchrony when a node moves on to v.
func (c *Broadcasts) leave(n *member, v *membership.View) {
	if n.next == nil || n.next.ID != v.ID {
		c.fail("transition", n.inc.Node, "installs %v without the transitional mark", v.ID)
		return
	}
	u := c.views[n.view.ID]
	m := move{by: n.inc.Node, regular: digest(n.inView[:n.regular]), all: digest(n.inView),
		nReg: n.regular, nAll: len(n.inView)}
	if o, ok := u.moves[v.ID]; !ok {
		u.moves[v.ID] = m
	} else if o.regular != m.regular || o.all != m.all {
		c.fail("EVS", n.inc.Node, "moved from %v to %v with %d messages, %d of them regular, node %d with %d and %d",
			n.view.ID, v.ID, m.nAll, m.nReg, o.by, o.nAll, o.nReg)
	}
	for _, id := range u.strict {
		if !n.delivered[id] {
			c.fail("strict", n.inc.Node, "left %v for %v without %v, which was delivered as Strict", n.view.ID, v.ID, id)
		}
	}
	u.left = append(u.left, n)
}

// digests names a list of deliveries.
type digests struct{ ordered, unordered uint64 }

// digest names a list of deliveries: the ordered ones in their order, and the
// others as a set, since no order is promised between senders.
func digest(ids []broadcast.ID) (d digests) {
	for _, id := range ids {
		h := spreadBits(uint64(id.Sender)<<56 ^ id.Sequence ^ spreadBits(uint64(id.Boot)))
		if id.Class == broadcast.ClassOrdered {
			d.ordered = spreadBits(d.ordered ^ h)
		} else {
			d.unordered += h
		}
	}
	return d
}

// spreadBits is a bijection that hides the patterns of its argument: the finalizer of
// splitmix64.
func spreadBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Delivered checks one delivery of a node.
func (c *Broadcasts) Delivered(inc timed.Incarnation, view *membership.View, d *broadcast.Delivery) {
	n := c.nodes[inc]
	m := c.Sent[d.ID]
	if m == nil || !bytes.Equal(m.Payload, d.Payload) || m.opt != d.Options {
		c.fail("invention", inc.Node, "delivers %v (%v) in %v, which was never broadcast so", d.ID, d.Options, view.ID)
		return
	}
	if n.delivered[d.ID] {
		c.fail("duplicate", inc.Node, "delivers %v twice, now in %v", d.ID, view.ID)
		return
	}
	n.delivered[d.ID] = true
	from := timed.Incarnation{Node: d.Sender, Boot: d.Boot}
	key := stream{from, d.Class}
	if d.Sequence <= n.sequence[key] {
		c.fail("FIFO", inc.Node, "delivers %v after %d of the same sender", d.ID, n.sequence[key])
	}
	n.sequence[key] = d.Sequence
	c.last[key] = max(c.last[key], d.Sequence)
	if n.view == nil || view.ID != n.view.ID {
		c.fail("view", inc.Node, "delivers %v in %v while in %v", d.ID, view.ID, n.view)
		return
	}
	if d.Transitional {
		c.sometimes(situation.CastTransitional)
	}
	if d.Transitional != (n.next != nil) {
		c.fail("transition", inc.Node, "delivers %v marked transitional: %v", d.ID, d.Transitional)
	}
	if !view.Has(from) {
		c.fail("view", inc.Node, "delivers %v from a node that is not a member of %v", d.ID, view.ID)
	}
	n.inView = append(n.inView, d.ID)
	if from == inc {
		if m.Outcome {
			c.fail("outcome", inc.Node, "delivers its own %v, whose outcome was said to be unknown", d.ID)
		}
		m.Outcome = true
	}
	v := c.views[view.ID]
	c.checkOrder(n, v, d)
	c.checkAtomicity(n, v, d)
	if d.Order == broadcast.TimedOrder && !d.Transitional {
		c.checkTimed(n, d)
	}
}

// checkOrder demands one global sequence in each view.
func (c *Broadcasts) checkOrder(n *member, v *viewLog, d *broadcast.Delivery) {
	if d.Class != broadcast.ClassOrdered {
		return
	}
	n.position++
	if d.Position != n.position {
		c.fail("order", n.inc.Node, "delivers %v at position %d after %d", d.ID, d.Position, n.position-1)
	}
	if n.flushed = n.flushed || d.Flushed; n.flushed {
		return // members that do not move together may have another order
	}
	switch p := int(d.Position); {
	case p == len(v.sequence)+1:
		v.sequence = append(v.sequence, d.ID)
	case p > len(v.sequence):
	case v.sequence[p-1] != d.ID:
		c.fail("order", n.inc.Node, "delivers %v at position %d of %v, where others deliver %v", d.ID, p, n.view.ID, v.sequence[p-1])
	}
}

// checkAtomicity demands that enough members hold a message when it is delivered.
func (c *Broadcasts) checkAtomicity(n *member, v *viewLog, d *broadcast.Delivery) {
	if d.Transitional || d.Atomicity == broadcast.WeakAtomicity {
		return
	}
	have, all, holders := 0, timed.Set{}, timed.Set{}
	for _, m := range v.members {
		all.Add(m.Node)
		if c.holds(m.Incarnation, d.ID) {
			have++
			holders.Add(m.Node)
		}
	}
	if c.quorum != nil && c.quorum.IsQuorum(all) && !c.quorum.IsQuorum(holders) {
		c.fail("atomicity", n.inc.Node, "delivers %v as %v while %v have it, which are no quorum", d.ID, d.Atomicity, holders)
	}
	need := len(v.members)/2 + 1
	if d.Atomicity == broadcast.StrictAtomicity {
		need = len(v.members)
	}
	if have < need {
		c.fail("atomicity", n.inc.Node, "delivers %v as %v while %d of %d members have it", d.ID, d.Atomicity, have, len(v.members))
	}
	if d.Atomicity != broadcast.StrictAtomicity {
		return
	}
	more := []broadcast.ID{d.ID}
	if p := int(d.Position); d.Class == broadcast.ClassOrdered && p <= len(v.sequence) {
		more = v.sequence[min(v.sure, p):p] // a state that lasts has all of the order
		v.sure = max(v.sure, p)
	}
	v.strict = append(v.strict, more...)
	for _, l := range v.left {
		for _, id := range more {
			if !l.delivered[id] {
				c.fail("strict", n.inc.Node, "delivers %v as Strict, and node %d has left %v without %v", d.ID, l.inc.Node, n.view.ID, id)
			}
		}
	}
}

// checkTimed checks the order of two timed messages against their stamps, and against the
// true times of sending within the deviations of the clocks.
func (c *Broadcasts) checkTimed(n *member, d *broadcast.Delivery) {
	p := n.lastTimed
	n.lastTimed = *d
	n.lastTimed.Payload = nil
	if p.Sender == timed.NoNode {
		return
	}
	if d.Stamp < p.Stamp || d.Stamp == p.Stamp && d.Sender < p.Sender {
		c.fail("timed", n.inc.Node, "delivers %v of %d after %v of %d", d.ID, d.Stamp, p.ID, p.Stamp)
	}
	if d.Stamp == p.Stamp && d.Sender != p.Sender {
		c.sometimes(situation.CastEqualStamps)
	}
	a, b := c.Sent[p.ID], c.Sent[d.ID]
	if a == nil || a.timeline != b.timeline || p.Deviation == clocksync.UnknownBound || d.Deviation == clocksync.UnknownBound {
		return
	}
	late := a.At - b.At // positive: the wrong way round
	if allowed := int64(p.Deviation+d.Deviation) + int64(c.drift.Slack(time.Duration(late), 2)) + 2*c.checker.Resolution; late > allowed {
		c.fail("timed", n.inc.Node, "delivers %v before %v, sent %d ns earlier; the stamps allow %d", p.ID, d.ID, late, allowed)
	}
}

// Elsewhere checks that own messages of a node were ordered in another branch.
func (c *Broadcasts) Elsewhere(inc timed.Incarnation, class broadcast.Class, from, to uint64) {
	if got := c.last[stream{inc, class}]; to > got {
		c.fail("outcome", inc.Node, "says that its messages through %d are ordered elsewhere, but nobody ordered or delivered any after %d", to, got)
	}
	c.sometimes(situation.CastElsewhere)
	for _, id := range c.nodes[inc].mine {
		if c.Sent[id] == nil || id.Class != class || id.Sequence < from || id.Sequence > to {
			continue
		}
		if c.Sent[id].Outcome {
			c.fail("outcome", inc.Node, "says that the outcome of %v is unknown, which it has delivered", id)
		}
		c.Sent[id].Outcome = true
	}
}

// Waits checks the limit of the deliveries that wait for an application.
func (c *Broadcasts) Waits(id timed.NodeID, bytes, messages, views int) {
	most := c.limit[0] + views*c.limit[1]
	if owed := bytes + castOverhead*messages; owed > most {
		c.fail("memory", id, "%d bytes of deliveries wait, more than %d", owed, most)
	}
}
