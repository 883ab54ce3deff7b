package check

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// granularity is the error of a bound that whole nanoseconds can cause.
const granularity = 4

// Arrival is a packet that arrives.
type Arrival struct {
	Packet   *wire.Packet
	From     *Process // nil if the packet is forged
	Sent     int64    // true time
	Received int64    // true time; the process may handle it later
}

// Delivered checks the delay bound and the offset interval after a packet.
func (c *Checker) Delivered(n *Process, f Arrival, now timed.Instant) {
	verdict, d := n.Stack.LastPacket()
	if f.From == nil {
		c.checkForged(n, f.Packet, verdict)
		return
	}
	if f.Received-f.Sent >= int64(time.Minute) {
		c.Sometimes(situation.CameMinutesLate)
	}
	if c.cast != nil && verdict == datagram.Delivered && f.Packet.Has(wire.FrameBroadcast) {
		c.cast.countArrival(n, f.Packet.Broadcast)
	}
	p := f.From
	current := p.Up && p.Boot == f.Packet.Header.Boot
	if verdict == datagram.Accepted && f.Received-f.Sent > n.spell-int64(c.Timing.FastThreshold) {
		c.Fail("accept", n, "accepts incarnation %v of node %d by a packet that was %v old", p.Boot, p.ID, time.Duration(f.Received-f.Sent))
		return
	}
	c.countArrival(current, verdict, d.Fast)
	c.digest.Mix(uint64(verdict)<<56 ^ uint64(d.Bound))
	if verdict != datagram.Delivered && verdict != datagram.Accepted {
		return
	}
	truth := f.Received - f.Sent
	if d.Bound != datagram.Unknown && int64(d.Bound) < truth-c.grain {
		c.Fail("delay", n, "bound %v of a packet from node %d is below its delay of %v", d.Bound, f.Packet.Header.Source, time.Duration(truth))
		return
	}
	if d.Fast && truth > int64(c.Timing.FastThreshold)+c.grain {
		c.Fail("fast", n, "takes a packet from node %d for fast that took %v", f.Packet.Header.Source, time.Duration(truth))
		return
	}
	// Relayed replies count even if the relaying node has restarted meanwhile.
	if d.Fast && f.Packet.Has(wire.FrameCollated) {
		c.checkRelayed(n, f.Packet.Collated, now)
	}
	if d.Fast && f.Packet.Has(wire.FrameRequest) {
		c.checkVouched(n, f, now)
	}
	from := f.Packet.Header.Source
	if !current {
		return
	}
	h := &c.heard[c.pair(n, p)]
	c.countOvertaken(n, &h.order, f.Packet)
	if d.Fast {
		h.direct = max(h.direct, f.Received)
	}
	if n.Stack.Datagram().Alive(now).Has(from) {
		c.checkAlive(n, p)
	}
	if lo, hi, ok := n.Stack.Datagram().Offset(now, from); ok {
		off := int64(p.Clock.Show(c.Now) - now)
		if int64(lo) > off+c.grain || int64(hi) < off-c.grain {
			c.Fail("offset", n, "[%d, %d] ns of node %d's clock does not hold the truth %d", lo, hi, from, off)
		}
	}
}

// countArrival records the situations of a packet.
func (c *Checker) countArrival(current bool, verdict datagram.Kind, fast bool) {
	switch {
	case !current:
		c.Sometimes(situation.OldBootCame)
	case verdict == datagram.Challenged:
		c.Sometimes(situation.ChallengerCame)
	case verdict == datagram.Delivered && !fast:
		c.Sometimes(situation.SlowCame)
	}
}

// checkForged demands that a forged packet does not count.
func (c *Checker) checkForged(n *Process, p *wire.Packet, verdict datagram.Kind) {
	if verdict == datagram.Delivered || verdict == datagram.Accepted {
		c.Fail("forged", n, "takes a forged packet in the name of node %d for real", p.Header.Source)
	}
}

// noteTimeline records and checks the timeline that a node adopts: its own, or that of the
// leader that it supports. If the request came late, the vote may have ended already, and the
// node may have asked for votes itself later in the same turn.
func (c *Checker) noteTimeline(n *Process, id clocksync.TimelineID) {
	now, el := n.Clock.Show(c.Now), n.Stack.Election()
	to, _ := el.Locked(now)
	if to == n.Incarnation() && el.LastRequest() >= now {
		to = timed.Incarnation{}
	}
	if id.Leader != n.ID && to.Node != timed.NoNode && (to.Node != id.Leader || to.Boot != id.Boot) && !n.Upset {
		c.Fail("timeline", n, "adopts %v, and supports %v", id, to)
	}
	if t := c.lines[id]; t != nil {
		c.onLine[n.Index] = t
		return
	}
	line, ok := n.Stack.Line()
	if ok && line.Parent == id && line.Timeline.Leader == id.Leader && line.Timeline.Boot == id.Boot {
		return // begun and left in one turn, for the time of its references
	}
	if !ok || line.Timeline != id {
		c.Fail("timeline", n, "adopts %v, which nobody has started", id)
		return
	}
	t := &timeline{id: id, clock: n.Clock, line: line}
	c.lines[id], c.onLine[n.Index] = t, t
}

// checkClock checks that the deviation holds the truth, and that time does not
// run backwards within a timeline.
func (c *Checker) checkClock(n *Process, now timed.Instant) {
	n.Stack.Clock().ReadInto(now, &c.reading)
	c.foldReading(&c.reading)
	c.checkReading(n, &c.reading)
}

// checkReading is checkClock for a reading.
func (c *Checker) checkReading(n *Process, r *clocksync.Reading) {
	cl := &c.Claims[n.Index]
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
		c.Fail("monotone", n, "the clock ran back by %v on %v", least.Sub(r.Time), r.Timeline)
		return
	}
	cl.timeline, cl.shown = r.Timeline, r.Time
	if c.Servers != nil {
		c.checkUTC(n, r)
	}
	t := c.onLine[n.Index]
	if t == nil || r.Deviation == clocksync.UnknownBound {
		return
	}
	if t.id != r.Timeline {
		c.Fail("timeline", n, "reads %v while on %v", r.Timeline, t.id)
		return
	}
	truth := int64(t.line.At(t.clock.Show(c.Now)))
	diff := int64(r.Time) - truth
	if diff > int64(r.Deviation)+c.grain || -diff > int64(r.Deviation)+c.grain {
		c.Fail("deviation", n, "is off by %v on %v and claims %v", time.Duration(diff), r.Timeline, r.Deviation)
	}
	c.checkSteady(n, r, diff)
}
