package check

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// A still world that loses one packet stays calm, except that the contents of the packet must
// be repeated. The bounds of that are far below those of a world that has healed.

// mending is the state after the loss of a packet in a still world.
type mending struct {
	lost  int64 // when the latest packet was lost
	until int64 // the latest time at which the loss has effects

	from, to timed.NodeID // of the latest packet that was lost
	deaf     timed.Set    // those of the two that no longer hear the other

	// The round that misses a reply because of the loss.
	leader  timed.Incarnation
	request timed.Instant // its number; 0: the next round has begun, or no reply is missing
	again   int64         // the latest time at which the next round begins

	early int // rounds that began early because of the loss
}

// mendTime returns the true time after which the loss of one packet in a still world has no
// effect any more. A round that misses a reply ends at its alarm. The next round begins at
// once, and may take as long. The request after that is on schedule again, and renews
// everything that the lost packet would have renewed.
func mendTime(t *timed.Timing) time.Duration {
	round, period := t.MaxDrift.Upper(t.RoundTime()), t.MaxDrift.Upper(t.Period())
	return 2*round + period + 4*t.SchedulingDelay + t.OneWayTimeout
}

// changeTime returns the true time within which all nodes hold one view after a group at rest
// has lost or gained nodes, or its leader has resigned, although a packet was lost. First a
// peer is missed, or votes that were not released expire. After a period the request follows
// that gets all votes, then the proposal, and then the commit. rejoin means that a node has
// started, which must become ready and then be heard.
func changeTime(t *timed.Timing, b *timed.Bounds, rejoin bool) time.Duration {
	up, hop := t.MaxDrift.Upper, t.OneWayTimeout+t.SchedulingDelay
	d := max(b.Notice, up(t.MaxDrift.Wait(t.MaxLockTime))+t.SchedulingDelay) + up(t.Period()) + t.SchedulingDelay + 6*hop + mendTime(t)
	if rejoin {
		d += b.Ready + up(t.KeepalivePeriod) + hop
	}
	return d
}

// NoteLoss records the loss of a packet in a world that loses single packets.
func (c *Checker) NoteLoss(p *wire.Packet) {
	l := &c.Live
	l.mend = mending{lost: c.Now, until: c.Now + int64(mendTime(&c.Timing)), from: p.Header.Source, to: p.Header.Destination}
	l.dirty = true
	if c.cast != nil {
		c.cast.Live.noteLoss()
	}
	switch h := &p.Header; {
	case p.Has(wire.FrameRequest):
		l.noteMissedReply(timed.Incarnation{Node: h.Source, Boot: h.Boot}, p.Request.Number, h.Destination)
	case p.Has(wire.FrameReply) && p.Reply.Support:
		l.noteMissedReply(c.processes[h.Destination-1].Incarnation(), p.Reply.Number, h.Source)
	case p.Has(wire.FrameCollated):
		l.noteMissedReply(p.Collated.Leader, p.Collated.Number, p.Collated.Replies[0].Voter.Node)
	}
}

// noteMissedReply records that a leader misses the reply of a voter to its latest request.
func (l *liveness) noteMissedReply(leader timed.Incarnation, number timed.Instant, voter timed.NodeID) {
	c := l.c
	n := c.processes[leader.Node-1]
	if !n.Up || n.Boot != leader.Boot || !c.Leads(n.Index) || c.paces[n.Index].request != number {
		return
	}
	waits := n.Stack.Datagram().Alive(n.Clock.Show(c.Now)).Intersect(c.paces[n.Index].asked)
	if !waits.Has(voter) {
		return // the round does not wait for it
	}
	for id := range waits.All() {
		if v := c.processes[id-1]; !v.Up || v.Boot != n.Stack.Datagram().Boot(id) {
			return // it waits for a former incarnation too, whose vote alone may cost the leader its lead
		}
	}
	round := c.Timing.MaxDrift.Upper(c.Timing.RoundTime()) + c.Timing.SchedulingDelay
	l.mend.leader, l.mend.request, l.mend.again = leader, number, n.Clock.When(number)+int64(round)+c.grain
}

// mends reports whether the loss of a packet may have effects now.
func (l *liveness) mends() bool { return l.c.Now <= l.mend.until }

// noteRequest checks a request for votes, which follows the last one after gap. Only a round
// that misses a reply, and so ends at its alarm, is followed by another one at once.
func (l *liveness) noteRequest(n *Process, gap, least time.Duration) {
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

// maySilence reports whether the sender and the receiver of the lost packet may no longer
// hear each other now. Expires of some timings is too short for a lost packet between late
// ones: the receiver misses the next packet, and what it sends until then says that it last
// heard the sender long ago.
func (c *Checker) maySilence() bool {
	t := &c.Timing
	gap := t.MaxDrift.Upper(t.KeepalivePeriod) + t.SchedulingDelay
	return t.Expires <= 3*gap+t.OneWayTimeout && c.Now-c.Live.mend.lost <= int64(2*(gap+t.OneWayTimeout))
}

// checkMendingEvent demands that the loss of one packet causes no events, except that a view
// may be stale for less than a round, and that the two nodes may not hear each other for a
// moment.
func (c *Checker) checkMendingEvent(n *Process, e *stack.Event) {
	x, m := &c.paces[n.Index], &c.Live.mend
	ofPair := n.ID == m.to && e.Peer == m.from || n.ID == m.from && e.Peer == m.to
	switch e.Kind {
	case stack.EventPeerSilent:
		if ofPair && c.maySilence() {
			m.deaf.Add(n.ID)
			return
		}
	case stack.EventPeerAlive:
		if ofPair && m.deaf.Has(n.ID) {
			m.deaf.Remove(n.ID)
			return
		}
	case stack.EventViewStale:
		x.stale = c.Now
		return
	case stack.EventViewFresh:
		if most := c.Timing.MaxDrift.Upper(c.Timing.RoundTime()); c.Now-x.stale > int64(most) {
			c.Fail("retry", n, "had a stale view for %v because a packet was lost, which is above %v", time.Duration(c.Now-x.stale), most)
		}
		return
	}
	c.Fail("retry", n, "reports event %d (peer %d) because a packet was lost %v ago", e.Kind, e.Peer, time.Duration(c.Now-m.lost))
}
