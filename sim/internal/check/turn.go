package check

import (
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Turn checks the claims of a node after a turn.
func (c *Checker) Turn(n *Process, now timed.Instant) {
	cl := &c.Claims[n.Index]
	before := c.leaseOf(n.Index)
	el, mb := n.Stack.Election(), n.Stack.Membership()
	// Update all claims of the node before checking any: a turn may end one and begin
	// another.
	expiration, leading := el.Leading()
	support, view, valid := el.Support(), mb.View(), mb.ValidUntil()
	to, until := el.Locked(now)
	lead := leading != cl.Leading || expiration != cl.expiration || support != cl.Support
	lock := to != cl.LockedTo || until != cl.LockEnd
	fresh := view != cl.View || valid != cl.valid
	if lock {
		c.checkMove(n, to)
	}
	cl.handed = el.Handed()
	if lead || lock || fresh {
		c.Live.Account(c.Now) // for the time in which the old claims held
		if lead {
			cl.Leading, cl.expiration, cl.Support = leading, expiration, support
			cl.updateLeadUntil(n)
		}
		if lock {
			cl.LockedTo, cl.LockEnd = to, until
			cl.updateLockUntil(n)
		}
		if fresh {
			if view != cl.View {
				cl.setView(c, view)
			}
			cl.valid = valid
			cl.updateViewUntil(n)
		}
		c.foldLeases(cl)
	}
	if lead {
		c.checkLead(n)
	}
	if lock {
		c.checkLock(n)
		if !to.Valid() && el.Defers(now) {
			c.Sometimes(situation.StoodBack)
		}
	}
	if fresh {
		c.checkView(n)
	}
	if c.global != nil {
		c.turnGlobal(n, now, lock, lead)
	}
	if p := mb.Proposal(); p != cl.proposal {
		c.noteProposal(n, p, now)
	}
	c.endTurn(n, now, before)
}

// turnGlobal checks what a turn changes for global leaders.
func (c *Checker) turnGlobal(n *Process, now timed.Instant, lock, lead bool) {
	c.checkGlobal(n, now)
	if lock {
		c.checkFreed(n)
	}
	if lead {
		c.checkReliances(n)
	}
}

// endTurn checks the clock, and what callers see.
func (c *Checker) endTurn(n *Process, now timed.Instant, before lease) {
	if c.Servers != nil {
		c.checkLine(n, now)
	}
	c.checkClock(n, now)
	if c.Readers {
		c.publish(n, now, before)
	}
	c.Live.Observe(c.Now)
}

// noteProposal records and checks a change of a leader's proposal, to nil for none.
func (c *Checker) noteProposal(n *Process, p *membership.View, now timed.Instant) {
	cl := &c.Claims[n.Index]
	before := cl.proposal
	cl.proposal = p
	switch {
	case p == nil:
	case before == nil || before.Set != p.Set:
		c.checkProposal(n, p, now)
	case before.ID.Sequence < p.ID.Sequence:
		c.Sometimes(situation.ProposalOvertaken)
	}
}
