package check

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
)

// A broadcast comes to rest some time after its last message. Nodes then send only headers,
// as often as keepalives, and keep no message that all have.

// restTime returns the true time within which the broadcast of a calm world comes to rest
// after its last message or the loss of a packet. The message is delivered first. Then the
// members issue a decision one after the other, each an election period after the one before,
// and the last acknowledgement comes with a keepalive.
func (c *Broadcasts) restTime() time.Duration {
	t := &c.checker.Timing
	hop := t.OneWayTimeout + t.SchedulingDelay
	return time.Duration(c.Live.retry) + time.Duration(c.checker.Nodes)*(t.MaxDrift.Upper(t.ElectionPeriod)+hop) + t.KeepalivePeriod + hop
}

// checkRest checks a packet that a process sends a time gap after its last one, if the
// broadcast has come to rest. It checks only worlds that lose single packets: in others, old
// packets may still arrive and be answered.
func (c *Broadcasts) checkRest(n *Process, p *wire.Packet, gap time.Duration) {
	live := &c.checker.Live
	still := time.Duration(c.checker.Now - max(c.latest, live.mend.lost, live.since+live.view))
	if !c.checker.Single || still < c.restTime() {
		return
	}
	switch b := p.Broadcast; {
	case !b.Bare():
		c.checker.Fail("rest", n, "sends %d runs, %d decisions and %d requests although all has been still for %v", len(b.Runs), len(b.Decisions), len(b.Wants), still)
		return
	case p.Frames == wire.FrameBroadcast && gap < n.timing.KeepalivePeriod/2:
		c.checker.Fail("rest", n, "sends an acknowledgement to node %d, to which it has sent %v before, although all has been still for %v",
			p.Header.Destination, gap, still)
		return
	}
	if !c.Live.canOrder(n, broadcast.ClassOrdered) {
		return // messages wait for a quorum
	}
	if messages, decisions := n.Stack.BroadcastState().Resting(); messages > 0 || decisions > 0 {
		c.checker.Fail("rest", n, "keeps %d messages and %d decisions although all has been still for %v", messages, decisions, still)
	}
}
