package check

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// A still world is calm once the bounds of liveness are over. Nothing is lost then, no
// process stops and no clock leaves ρ. So nothing needs to change until the next fault, and
// the periods of the timing determine how often nodes send.

// calm reports whether the bounds of a still period are over, and the effects of a lost
// packet too.
func (l *liveness) calm() bool { return l.settled() && !l.mends() }

// settled reports whether the bounds of a still period are over.
func (l *liveness) settled() bool { return l.stable && l.c.Now > l.since+l.view }

// checkCalmEvent demands that nodes of a calm world report no events. Exceptions are answers
// to questions, events about UTC, and events that other blocks cause over slow links.
func (c *Checker) checkCalmEvent(n *Process, e *stack.Event) {
	if !c.Live.settled() {
		return
	}
	switch e.Kind {
	case stack.EventVerified, stack.EventEpoch, stack.EventNewEpoch: // epochs have bounds of their own
		return
	case stack.EventPeerRestarted, stack.EventPeerLeaving:
		if !c.Live.block(n.ID).Has(e.Peer) { // packets of other blocks may be as slow as the links
			return
		}
	case stack.EventStampAhead:
		if !c.Single { // the message may be from before
			return
		}
	case stack.EventUTCChanged, stack.EventFalseticker, stack.EventTruechimer, stack.EventClockAdopted, stack.EventClockStepped:
		if c.Servers != nil { // their line may bend too far to be followed
			return
		}
	}
	if c.Live.mends() {
		c.checkMendingEvent(n, e)
		return
	}
	c.Fail("calm", n, "reports event %d (peer %d) although nothing has happened since the world became still %v ago", e.Kind, e.Peer, c.stillFor())
}

// stillFor returns for how long the world has been still.
func (c *Checker) stillFor() time.Duration { return time.Duration(c.Now - c.Live.since) }

// pace has the times at which a process sent its periodic packets.
type pace struct {
	request   timed.Instant // its latest one
	asked     timed.Set     // the peers that it counted as alive then
	tree      bool          // it has one
	requested int64         // the same in true time
	stale     int64         // when its view became stale after the loss of a packet
	packets   []packetSent  // the latest one, by destination

	turn    timed.Instant // that has sent the latest packet
	alone   bool          // it has sent keepalives only
	longest time.Duration // the longest time between one of them and the packet before it
}

// packetSent is when a packet was sent, in true time, and by the sender's clock if it
// replaces a keepalive.
type packetSent struct {
	at    int64
	stamp timed.Instant
}

// reset makes the pace that of a new incarnation.
func (p *pace) reset(now int64, nodes int) {
	*p = pace{packets: make([]packetSent, nodes+1)}
	for i := range p.packets {
		p.packets[i].at = now
	}
}

// CheckSent checks a packet that a process sends. asked means that the application asked for
// it, and not the protocol.
func (c *Checker) CheckSent(n *Process, p *wire.Packet, asked bool) {
	calm, x, to := c.Live.calm(), &c.paces[n.Index], p.Header.Destination
	if calm && p.Has(wire.FrameRequest) && x.request != p.Request.Number {
		c.checkRequest(n, p)
	}
	if p.Has(wire.FrameRequest) {
		if x.request != p.Request.Number {
			c.Live.noteRequest(n, p.Request.Number.Sub(x.request), leastPeriod(n.timing, p))
		}
		x.request, x.requested, x.tree = p.Request.Number, c.Now, p.Has(wire.FrameTree)
		x.asked = n.Stack.Datagram().Alive(p.Request.Number)
	}
	if calm && x.turn != p.Header.Stamp {
		c.checkAlone(n)
		x.turn, x.alone, x.longest = p.Header.Stamp, true, 0
	}
	last := &x.packets[to]
	if calm {
		c.checkSilence(n, to)
		gap := p.Header.Stamp.Sub(last.stamp)
		if c.cast != nil && p.Has(wire.FrameBroadcast) {
			c.cast.checkRest(n, p, gap)
		}
		if x.longest = max(x.longest, gap); p.Frames == 0 && !asked && gap < n.timing.KeepalivePeriod/2 {
			c.Fail("pace", n, "sends a keepalive to node %d, to which it has sent %v before", to, gap)
		}
	}
	if last.at = c.Now; !p.Has(wire.FrameInUse) && p.Frames != wire.FrameEpoch { // these replace no keepalive
		last.stamp = p.Header.Stamp
	}
	x.alone = x.alone && p.Frames == 0 && !asked
}

// checkRequest demands that only leaders ask for votes in a calm world, once in a period.
func (c *Checker) checkRequest(n *Process, p *wire.Packet) {
	if !c.Leads(n.Index) {
		c.Fail("pace", n, "asks for votes, and does not lead although the world has been still for %v", c.stillFor())
		return
	}
	x, t := &c.paces[n.Index], n.timing
	if x.requested <= max(c.Live.since+c.Live.view, c.Live.mend.until) {
		return
	}
	least := leastPeriod(n.timing, p)
	if gap := p.Request.Number.Sub(x.request); gap < least {
		c.Fail("pace", n, "renews its lease %v after it has renewed it, which %v would suffice for", gap, least)
	}
	replies := 2 * (t.OneWayTimeout + t.SchedulingDelay)
	if x.tree { // other nodes relay the replies
		replies = t.RoundTime()
	}
	most := t.MaxDrift.Upper(max(t.ElectionPeriod, replies)) + t.SchedulingDelay
	if gap := c.Now - x.requested; gap > int64(most)+c.grain {
		c.Fail("pace", n, "renews its lease %v after it has renewed it, which it may do after %v", time.Duration(gap), most)
	}
}

// leastPeriod returns the shortest time between two requests of a leader at rest.
func leastPeriod(t *timed.Timing, p *wire.Packet) time.Duration {
	return min(t.ElectionPeriod-min(t.ElectionPeriod/16, t.SchedulingDelay), t.MaxDrift.Trust(p.Request.LockTime)-t.RoundTime()-t.SchedulingDelay)
}

// checkAlone demands that the last turn of a process in a calm world, if it sent keepalives
// only, had a reason: some peer had got nothing for a keepalive period.
func (c *Checker) checkAlone(n *Process) {
	if x := &c.paces[n.Index]; x.turn > 0 && x.alone && x.longest < n.timing.KeepalivePeriod {
		c.Fail("pace", n, "sends keepalives, although it has sent to each of these peers at most %v before", x.longest)
	}
}

// checkSilence demands that a process of a still world sends to each node once in a keepalive
// period, also to nodes that are down or cannot be reached. Nodes of its block hear of it
// through their leader, so that the longer indirect period applies.
func (c *Checker) checkSilence(n *Process, to timed.NodeID) {
	l, most := &c.Live, n.timing.KeepalivePeriod
	if l.block(n.ID).Has(to) {
		most = n.timing.IndirectPeriod()
	}
	limit := c.Timing.MaxDrift.Upper(most) + c.Timing.SchedulingDelay
	if silent := c.Now - max(c.paces[n.Index].packets[to].at, l.began); silent > int64(limit)+c.grain {
		c.Fail("pace", n, "has sent nothing to node %d for %v, which is above %v", to, time.Duration(silent), limit)
	}
}

// endPace finishes a calm period: nobody has been forgotten.
func (l *liveness) endPace() {
	c := l.c
	for _, n := range c.processes[:c.Nodes] {
		for id := timed.NodeID(1); n.Up && !n.Upset && id <= timed.NodeID(c.Nodes); id++ {
			if id != n.ID {
				c.checkSilence(n, id)
			}
		}
	}
}

// block returns the block of a node.
func (l *liveness) block(id timed.NodeID) timed.Set {
	for _, b := range l.blocks {
		if b.Has(id) {
			return b
		}
	}
	return timed.SetOf(id)
}
