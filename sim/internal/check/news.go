package check

import (
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// checkNews demands that an event says all that its kind promises: people act on the peer, the
// reason, and the view that it names.
func (c *Checker) checkNews(n *Process, e *stack.Event) {
	lacks := func(missing bool, what string) {
		if missing {
			c.Fail("news", n, "reports %q without %s: %+v", e, what, *e)
		}
	}
	lacksPeer := func() { lacks(e.Peer == timed.NoNode || e.Peer == n.ID, "the peer") }
	switch e.Kind {
	case stack.EventReady:
		lacks(e.Boot != n.Boot, "its incarnation")
	case stack.EventPeerAlive:
		lacksPeer()
		lacks(e.Bound != n.Stack.Datagram().LastDelay(e.Peer).Bound, "the bound of the last packet")
	case stack.EventPeerSilent:
		lacksPeer()
		lacks(e.Bound != n.Stack.Datagram().LastDelay(e.Peer).Bound, "the bound of the last packet")
		_, heard := n.Stack.Datagram().LastFast(0, e.Peer)
		lacks(heard && !e.Deaf && e.Age <= 0, "the age of the last packet")
	case stack.EventPeerRestarted, stack.EventPeerLeaving, stack.EventTwins, stack.EventRival, stack.EventClockFault:
		lacksPeer()
		lacks(e.Boot == 0, "the incarnation")
	case stack.EventElected, stack.EventGlobalElected:
		lacks(e.Peer != n.ID, "the leader")
		lacks(e.Support.Empty(), "the voters")
	case stack.EventLeadLost, stack.EventGlobalLost:
		lacks(e.Lost == leader.NoReason, "a reason")
		lacks((e.Lost == leader.Outranked || e.Lost == leader.RoundFailed) && e.Peer == timed.NoNode, "the peer")
	case stack.EventFollowing:
		lacks((e.Peer == timed.NoNode) != (e.Boot == 0), "the incarnation")
	case stack.EventViewInstalled, stack.EventViewFresh:
		lacks(e.View == nil, "the view")
	case stack.EventViewStale:
		lacks(e.View == nil, "the view")
		lacks(e.Stale == membership.NoReason, "a reason")
		lacks(e.Stale == membership.LeaderResigned && e.Peer == timed.NoNode, "the leader")
	case stack.EventClockAdopted, stack.EventClockStepped:
		lacks(e.Timeline.Leader == timed.NoNode || e.Peer != e.Timeline.Leader, "the leader of the timeline")
		lacks(e.Kind == stack.EventClockStepped && e.Step == 0, "the step")
	case stack.EventFalseticker, stack.EventTruechimer:
		lacks(e.Peer == timed.NoNode, "the node that asks it")
		lacks(e.Source == 0, "the reference")
	case stack.EventSlowConsumer, stack.EventOverrun:
		lacks(e.View == nil, "the view")
	case stack.EventStampAhead:
		lacks(e.View == nil || !e.View.Set.Has(e.Peer), "the sender")
		lacks(e.Step <= 0, "the distance")
	case stack.EventVerified:
		lacks(e.Assurance == nil || e.Peer != e.Assurance.By.Node || e.Boot != e.Assurance.By.Boot, "the node that has answered")
	case stack.EventEpoch:
		lacks(e.Change.Kind == 0 || e.Peer != e.Change.Peer, "the change")
	case stack.EventDuplicateID:
		lacks(e.Peer != n.ID || e.Boot == 0 || e.Boot == n.Boot, "the rival")
	case stack.EventRestart:
		lacks(e.Peer == timed.NoNode, "the peer that contradicts")
	case stack.EventInconsistent:
		lacks(e.Text == "", "the invariant")
	}
}
