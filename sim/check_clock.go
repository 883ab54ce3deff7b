package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// granularity is what whole nanoseconds can cost a bound.
const granularity = 4

// delivered checks the delay bound and the offset interval after a packet.
func (c *checker) delivered(n *Node, f *flight, now timed.Instant) {
	verdict, d := n.st.LastPacket()
	if f.from == nobody {
		c.checkForged(n, f, verdict)
		return
	}
	p := c.w.nodes[f.from]
	current := p.up && p.boot == f.packet.Header.Boot
	if verdict == datagram.Accepted && c.w.now-f.sent > int64(c.w.opt.Timing.MaxDrift.Wait(c.w.opt.Timing.Expires)) {
		c.fail("accept", n, "accepts incarnation %v of node %d by a packet that is %v old", p.boot, p.id, time.Duration(c.w.now-f.sent))
		return
	}
	switch {
	case !current:
		c.sometimes(OldBootCame)
	case verdict == datagram.Challenged:
		c.sometimes(ChallengerCame)
	case verdict == datagram.Delivered && !d.Fast:
		c.sometimes(SlowCame)
	}
	if verdict != datagram.Delivered && verdict != datagram.Accepted {
		return
	}
	truth := c.w.now - f.sent
	if d.Bound != datagram.Unknown && int64(d.Bound) < truth-granularity {
		c.fail("delay", n, "bound %v of a packet from node %d is below its delay of %v", d.Bound, f.packet.Header.Source, time.Duration(truth))
		return
	}
	if d.Fast && truth > int64(c.w.opt.Timing.FastThreshold)+granularity {
		c.fail("fast", n, "takes a packet from node %d for fast that took %v", f.packet.Header.Source, time.Duration(truth))
		return
	}
	// What a node passed on counts also if it has restarted meanwhile.
	if d.Fast && f.packet.Has(wire.FrameCollated) {
		c.checkRelayed(n, f.packet.Collated, now)
	}
	from := f.packet.Header.Source
	if !current {
		return
	}
	if d.Fast {
		c.heard[c.pair(n, p)] = c.w.now
	}
	if n.st.Datagram().Alive(now).Has(from) {
		c.checkAlive(n, p)
	}
	if lo, hi, ok := n.st.Datagram().Offset(now, from); ok {
		off := int64(p.clock.Show(c.w.now) - now)
		if int64(lo) > off+granularity || int64(hi) < off-granularity {
			c.fail("offset", n, "[%d, %d] ns of node %d's clock does not hold the truth %d", lo, hi, from, off)
		}
	}
}

// checkRelayed checks those for whom a packet speaks. They ran, and heard the
// requester, after its request left, and no later time is certain.
func (c *checker) checkRelayed(n *Node, said *wire.Collated, now timed.Instant) {
	if said.Leader.Node != n.id {
		return
	}
	if said.Number == n.st.Election().LastRequest() {
		c.sometimes(RepliesCollated)
	} else {
		c.sometimes(CollatedLate)
	}
	alive := n.st.Datagram().Alive(now)
	for i := range said.Replies {
		v := said.Replies[i].Voter
		p := c.w.nodes[v.Node-1]
		if !p.up || p.boot != v.Boot || n.st.Datagram().Boot(v.Node) != v.Boot {
			continue
		}
		if at := c.pair(n, p); said.Replies[i].Reply.Support {
			c.heard[at] = max(c.heard[at], n.clock.When(said.Number))
		}
		if alive.Has(v.Node) {
			c.checkAlive(n, p)
		}
	}
}

// checkAlive demands that a peer which is alive here hears this node too, and
// may vote: a link that works one way only makes nobody alive on one side.
func (c *checker) checkAlive(n, p *Node) {
	if age := c.w.now - c.heard[c.pair(p, n)]; age > c.spell {
		c.fail("alive", n, "counts node %d as alive, which has not heard it for %v", p.id, time.Duration(age))
		return
	}
	if !p.st.Election().Ready(p.clock.Show(c.w.now)) {
		c.fail("ready", n, "counts node %d as alive, which is not ready", p.id)
	}
}

// adopted notes which timeline a node is on.
func (c *checker) adopted(n *Node, id clocksync.TimelineID) {
	if t := c.lines[id]; t != nil {
		c.onLine[n.index] = t
		return
	}
	line, ok := n.st.Line()
	if ok && line.Parent == id && line.Timeline.Leader == id.Leader && line.Timeline.Boot == id.Boot {
		return // begun and left in one turn, for the time that its references give
	}
	if !ok || line.Timeline != id {
		c.fail("timeline", n, "adopts %v, which nobody has started", id)
		return
	}
	t := &timeline{id: id, clock: n.clock, line: line}
	c.lines[id], c.onLine[n.index] = t, t
}

// checkClock checks that the deviation holds the truth, and that time does not
// run backwards within a timeline.
func (c *checker) checkClock(n *Node, now timed.Instant) {
	r := &c.reading
	n.st.Clock().ReadInto(now, r)
	cl := &c.claims[n.index]
	least := cl.shown
	if cl.timeline != r.Timeline {
		if cl.left == nil {
			cl.left = map[clocksync.TimelineID]clocksync.Time{}
		}
		cl.left[cl.timeline] = cl.shown
		var was bool
		if least, was = cl.left[r.Timeline]; !was {
			least = r.Time
		}
	}
	if r.Time < least && !r.Timeline.None() {
		c.fail("monotone", n, "the clock ran back by %v on %v", least.Sub(r.Time), r.Timeline)
		return
	}
	cl.timeline, cl.shown = r.Timeline, r.Time
	if c.w.external != nil {
		c.checkUTC(n, r)
	}
	t := c.onLine[n.index]
	if t == nil || r.Deviation == clocksync.UnknownBound {
		return
	}
	if t.id != r.Timeline {
		c.fail("timeline", n, "reads %v while on %v", r.Timeline, t.id)
		return
	}
	truth := int64(t.line.At(t.clock.Show(c.w.now)))
	if diff := int64(r.Time) - truth; diff > int64(r.Deviation)+granularity || -diff > int64(r.Deviation)+granularity {
		c.fail("deviation", n, "is off by %v on %v and claims %v", time.Duration(diff), r.Timeline, r.Deviation)
	}
}
