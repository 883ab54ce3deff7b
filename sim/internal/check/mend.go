package check

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// A still world that loses one packet stays calm but for what the packet said, which comes
// again. The bounds of that are far below those of a world that has healed.

// mending is what follows the loss of a packet in a still world.
type mending struct {
	lost  int64 // when the latest packet was lost
	until int64 // when everything is as before at the latest

	// The round that misses a reply because of it.
	leader  timed.Incarnation
	request timed.Instant // its number; 0: the next round has begun, or no reply is missing
	again   int64         // when the next round begins at the latest

	early int // rounds that began early because of it
}

// mendTime returns the true time after which the loss of one packet in a still world has no
// effect any more. A round that misses a reply ends by its alarm, and the next one begins at
// once, which may take as long. The request after that is on schedule again, and renews
// what the lost packet would have renewed.
func mendTime(t *timed.Timing) time.Duration {
	round, period := t.MaxDrift.Upper(t.RoundTime()), t.MaxDrift.Upper(t.Period())
	return 2*round + period + 4*t.SchedulingDelay + t.OneWayTimeout
}

// changeTime returns the true time after which all nodes hold one view although a packet was
// lost, if a group at rest has lost or got nodes, or its leader has resigned. A peer that is gone
// is missed, or votes that nobody gives back run out. After a period the request comes
// that gets all votes, then the proposal, and then the commit. With rejoin, a node has started:
// it is ready first, and then heard.
func changeTime(t *timed.Timing, b *timed.Bounds, rejoin bool) time.Duration {
	up, hop := t.MaxDrift.Upper, t.OneWayTimeout+t.SchedulingDelay
	d := max(b.Notice, up(t.MaxDrift.Wait(t.MaxLockTime))+t.SchedulingDelay) + up(t.Period()) + t.SchedulingDelay + 6*hop + mendTime(t)
	if rejoin {
		d += b.Ready + up(t.KeepalivePeriod) + hop
	}
	return d
}

// Loses notes that a packet was lost on its way in a world that loses single packets.
func (c *Checker) Loses(p *wire.Packet) {
	l := &c.Live
	l.mend = mending{lost: c.Now, until: c.Now + int64(mendTime(&c.Timing))}
	l.dirty = true
	if c.cast != nil {
		c.cast.Live.loses()
	}
	switch h := &p.Header; {
	case p.Has(wire.FrameRequest):
		l.misses(timed.Incarnation{Node: h.Source, Boot: h.Boot}, p.Request.Number, h.Destination)
	case p.Has(wire.FrameReply) && p.Reply.Support:
		l.misses(c.processes[h.Destination-1].Incarnation(), p.Reply.Number, h.Source)
	case p.Has(wire.FrameCollated):
		l.misses(p.Collated.Leader, p.Collated.Number, p.Collated.Replies[0].Voter.Node)
	}
}

// misses notes that a leader misses the reply of a voter to its latest request.
func (l *liveness) misses(leader timed.Incarnation, number timed.Instant, voter timed.NodeID) {
	c := l.c
	n := c.processes[leader.Node-1]
	if !n.Up || n.Boot != leader.Boot || !c.Leads(n.Index) || c.paces[n.Index].request != number {
		return
	}
	if !n.Stack.Datagram().Alive(n.Clock.Show(c.Now)).Has(voter) {
		return // the leader has not asked it
	}
	round := c.Timing.MaxDrift.Upper(c.Timing.RoundTime()) + c.Timing.SchedulingDelay
	l.mend.leader, l.mend.request, l.mend.again = leader, number, n.Clock.When(number)+int64(round)+c.grain
}

// mends reports whether the loss of a packet may have effects now.
func (l *liveness) mends() bool { return l.c.Now <= l.mend.until }

// asks notes that a process asks for votes, some time after its last request. A round that
// misses a reply ends at its alarm, and is the only one that another follows at once.
func (l *liveness) asks(n *Process, gap, least time.Duration) {
	m, c := &l.mend, l.c
	if m.request != 0 && m.leader == n.Incarnation() {
		if m.request = 0; l.stable && c.Now > m.again {
			c.Fail("retry", n, "asks again %v after a packet of its round was lost, which is %v too late",
				time.Duration(c.Now-m.lost), time.Duration(c.Now-m.again))
		}
	}
	if l.settled() && l.mends() && gap < least {
		if m.early++; m.early > 1 || gap < c.Timing.RoundTime() {
			c.Fail("retry", n, "asks again %v after it has asked, %d times since a packet was lost %v ago", gap, m.early, time.Duration(c.Now-m.lost))
		}
	}
}

// disturbs demands that the loss of one packet makes no news, but that a view may be stale
// for less than a round.
func (c *Checker) disturbs(n *Process, e *stack.Event) {
	x := &c.paces[n.Index]
	switch e.Kind {
	case stack.EventViewStale:
		x.stale = c.Now
		return
	case stack.EventViewFresh:
		if most := c.Timing.MaxDrift.Upper(c.Timing.RoundTime()); c.Now-x.stale > int64(most) {
			c.Fail("retry", n, "had a stale view for %v because a packet was lost, which is above %v", time.Duration(c.Now-x.stale), most)
		}
		return
	}
	c.Fail("retry", n, "reports event %d (peer %d) because a packet was lost %v ago", e.Kind, e.Peer, time.Duration(c.Now-c.Live.mend.lost))
}
