package check

import (
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/situation"
)

// Event checks an event that a node reports. It returns why the node asks for a new
// incarnation, or None.
func (c *Checker) Event(n *Process, e *stack.Event) life.Reason {
	if c.Faults != nil {
		c.Faults(n, e)
	}
	c.checkCalmEvent(n, e)
	c.checkNews(n, e)
	switch e.Kind {
	case stack.EventViewInstalled:
		c.Counts.Views++
		c.installed(n, e.View, e.Previous)
	case stack.EventElected:
		c.Counts.Elections++
		c.LeadChanges++
		c.checkAlternates(n, &c.Claims[n.Index].told, true)
		if c.Claims[n.Index].leads++; c.Claims[n.Index].leads == mostLeads {
			c.Sometimes(situation.LedOften)
		}
		c.Live.changed()
	case stack.EventLeadLost:
		c.LeadChanges++
		c.checkAlternates(n, &c.Claims[n.Index].told, false)
		c.leadLost(n, e.Lost)
		c.Live.changed()
	case stack.EventViewStale, stack.EventViewFresh:
		c.leaseEvent(n, e)
	case stack.EventPeerSilent:
		if e.Deaf {
			c.Sometimes(situation.DeafPeer)
		}
	case stack.EventClockAdopted, stack.EventClockStepped, stack.EventClockFault:
		c.clockEvent(n, e)
	case stack.EventRival:
		c.rival(n, e)
	case stack.EventTwins:
		c.twins(n, e)
	case stack.EventDuplicateID:
		c.duplicate(n)
	case stack.EventSlowConsumer, stack.EventStampAhead, stack.EventOverrun:
		c.castEvent(n, e)
	case stack.EventMismatch, stack.EventOtherQuorum:
		c.Fail("mismatch", n, "thinks that node %d has other settings or another quorum system", e.Peer)
	case stack.EventUTCChanged, stack.EventFalseticker, stack.EventTruechimer:
		c.utcEvent(n, e)
	case stack.EventGlobalElected, stack.EventGlobalLost:
		c.Live.changed()
		c.checkAlternates(n, &c.Claims[n.Index].toldGlobal, e.Kind == stack.EventGlobalElected)
		c.checkStable(n, e)
	case stack.EventVerified:
		c.verified(n, e)
	case stack.EventEpoch:
		c.epoch(n, e)
	case stack.EventRestart:
		return life.PeersContradict
	case stack.EventInconsistent:
		c.inconsistent(n, e.Text)
		return life.Inconsistent
	}
	return life.None
}

// leaseEvent handles the beginning or the end of the lease of a view.
func (c *Checker) leaseEvent(n *Process, e *stack.Event) {
	cl := &c.Claims[n.Index]
	c.checkAlternates(n, &cl.toldFresh, e.Kind == stack.EventViewFresh)
	switch {
	case e.Kind == stack.EventViewStale:
		cl.staleView = e.View.ID
		c.Sometimes(situation.ViewStale)
		c.Live.changed()
	case cl.staleView == e.View.ID:
		c.Sometimes(situation.StaleAndFresh)
	}
}

// checkAlternates demands that the events about the beginning and the end of a lead, or of
// the lease of a view, alternate.
func (c *Checker) checkAlternates(n *Process, told *bool, begins bool) {
	if *told == begins {
		c.Fail("readers", n, "says twice that a lead or the lease of a view begins: %v", begins)
	}
	*told = begins
}

// CheckEnded demands that an incarnation that ended by itself reported the end of every lead
// and lease whose beginning it reported.
func (c *Checker) CheckEnded(n *Process) {
	if cl := &c.Claims[n.Index]; cl.told || cl.toldGlobal || cl.toldFresh {
		c.Fail("readers", n, "ends, and has not told the end of its lead (%v, globally %v) or of the lease of its view (%v)", cl.told, cl.toldGlobal, cl.toldFresh)
	}
}

// clockEvent checks an event about a clock.
func (c *Checker) clockEvent(n *Process, e *stack.Event) {
	switch e.Kind {
	case stack.EventClockAdopted:
		c.Sometimes(situation.ClockAdopted)
		c.noteTimeline(n, e.Timeline)
	case stack.EventClockStepped:
		c.Sometimes(situation.ClockStepped)
		c.noteTimeline(n, e.Timeline)
		if c.cast != nil {
			c.cast.noteStep(n, e.Step)
		}
	case stack.EventClockFault:
		c.Sometimes(situation.ClockFaulty)
		c.Fail("clock", n, "blames the clock of node %d (bound %v) although all clocks keep ρ", e.Peer, e.Bound)
	}
}

// leadLost counts situations at the end of a lead.
func (c *Checker) leadLost(n *Process, why leader.Reason) {
	switch why {
	case leader.LeaseExpired:
		c.Sometimes(situation.LeaseExpired)
		if c.Claims[n.Index].proposal != nil {
			c.Sometimes(situation.LeaseExpiredProposing)
		}
	case leader.Outranked:
		c.Sometimes(situation.Outranked)
	case leader.Resigned:
		c.Sometimes(situation.HandedOver)
	}
	if c.leaders(n) == 0 {
		c.Sometimes(situation.NobodyLeads)
	}
}

// leaders returns the number of leaders besides n.
func (c *Checker) leaders(n *Process) (count int) {
	for i := range c.processes {
		if i != n.Index && c.Leads(i) {
			count++
		}
	}
	return count
}

// castEvent handles an event of the broadcast.
func (c *Checker) castEvent(n *Process, e *stack.Event) {
	switch e.Kind {
	case stack.EventSlowConsumer:
		c.Sometimes(situation.CastSlow)
	case stack.EventStampAhead:
		c.Sometimes(situation.CastAhead)
	case stack.EventOverrun:
		c.Leaves = n
	}
}
