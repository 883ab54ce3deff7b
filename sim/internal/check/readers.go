package check

import (
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// reader has the state that the callers of a process see: the snapshot that its loop
// published after its last turn. They read the clock themselves.
type reader struct {
	published stack.Snapshot
	any       bool // something was published in the present incarnation
}

// lease is when the leads of a process end, in true time.
type lease struct{ local, global int64 }

func (c *Checker) leaseOf(i int) lease { return lease{c.Claims[i].LeadUntil, c.Claims[i].globalUntil} }

// publish takes the snapshot after a turn, and checks the answers of the process and of one
// other process, so that over time all are also checked between their turns. before is when
// the leads of the process ended before the turn.
func (c *Checker) publish(n *Process, now timed.Instant, before lease) {
	r := &c.readers[n.Index]
	next := n.Stack.Snapshot(now)
	if r.any {
		c.checkPhases(n, &r.published, &next, now, before)
	}
	if to := n.Stack.GlobalLeader(now); c.global != nil && next.Globally != to {
		c.Fail("readers", n, "names node %v as the global leader, but knows of %v", next.Globally, to)
	}
	r.published, r.any = next, true
	c.read(n)
	if c.lastRead++; c.lastRead >= len(c.processes) {
		c.lastRead = 0
	}
	if other := c.processes[c.lastRead]; other != n {
		c.read(other)
		c.readClock(other)
	}
}

// checkPhases demands that two snapshots count as one lead if and only if the lead was not
// interrupted, because contexts last as long as a lead.
func (c *Checker) checkPhases(n *Process, last, next *stack.Snapshot, now timed.Instant, before lease) {
	if l := next.Lead(now); l.Leads && next.Continues(now, last) != (c.Now < before.local) {
		c.Fail("readers", n, "counts a lead as the one of before: %v, whose lease ended in %v", next.Continues(now, last), time.Duration(before.local-c.Now))
	}
	if g := next.GlobalLead(now); g.Leads && next.ContinuesGlobally(now, last) != (c.Now < before.global) {
		c.Fail("readers", n, "counts a global lead as the one of before: %v, whose lease ended in %v", next.ContinuesGlobally(now, last),
			time.Duration(before.global-c.Now))
	}
}

// read checks the answers that callers of a process get now.
func (c *Checker) read(p *Process) {
	r := &c.readers[p.Index]
	if !p.Up || p.Upset || !r.any {
		return
	}
	s, cl, now := &r.published, &c.Claims[p.Index], p.Clock.Show(c.Now)
	c.readLead(p, s, now)
	if g := s.GlobalLead(now); c.global != nil && (g.Leads != c.LeadsGlobally(p.Index) || g.Leads && p.Clock.When(g.Until) != cl.globalUntil) {
		c.Fail("readers", p, "says that it leads globally: %v, which is %v", g.Leads, c.LeadsGlobally(p.Index))
	}
	fresh := s.UpToDate(now)
	if fresh && (!s.UpToDate(s.ValidUntil-1) || s.UpToDate(s.ValidUntil)) {
		c.Fail("readers", p, "ends the lease of its view at another time than %d", s.ValidUntil)
	}
	if s.View != cl.View || fresh != c.Fresh(p.Index) {
		c.Fail("readers", p, "says of view %v that it is up to date: %v, but has view %v for %v more", s.View, fresh, cl.View, time.Duration(cl.ViewUntil-c.Now))
	}
}

// readLead checks the answer about the leader, now and at the end of its promise.
func (c *Checker) readLead(p *Process, s *stack.Snapshot, now timed.Instant) {
	cl, l := &c.Claims[p.Index], s.Lead(now)
	self := p.Incarnation()
	leads := c.Leads(p.Index)
	follows := !leads && cl.LockedTo.Valid() && cl.LockedTo != self && c.Now < cl.LockUntil
	switch {
	case l.Leads != leads || l.Leads && (l.Leader != self || l.Support != cl.Support || p.Clock.When(l.Until) != cl.LeadUntil):
		c.Fail("readers", p, "says that it leads: %v, with %v, but leads %v with %v", l.Leads, l.Support, leads, cl.Support)
	case l.UpToDate != (leads || follows) || follows && (l.Leader != cl.LockedTo || p.Clock.When(l.Until) != cl.LockUntil):
		c.Fail("readers", p, "says that it follows %v: %v, but is bound to %v for %v more", l.Leader, l.UpToDate, cl.LockedTo, time.Duration(cl.LockUntil-c.Now))
	case l.UpToDate && (s.Lead(l.Until-1) != l || s.Lead(l.Until) == l):
		c.Fail("readers", p, "has another answer before the end of the promise, or the same after it")
	}
}

// readClock checks the reading of group time that callers of a process get now.
func (c *Checker) readClock(p *Process) {
	r := &c.readers[p.Index]
	if !p.Up || !r.any {
		return
	}
	c.reading = r.published.Reading(p.Clock.Show(c.Now), !p.Upset)
	if c.onLine[p.Index] != nil && c.onLine[p.Index].id == c.reading.Timeline {
		c.checkReading(p, &c.reading)
	}
}

// NoteHold records and checks the promise of a process to its callers that no other node
// leads.
func (c *Checker) NoteHold(p *Process, local, global timed.Instant) {
	if local == 0 {
		return
	}
	if end := p.Clock.When(local); end > c.Claims[p.Index].LeadUntil {
		c.Fail("Verify", p, "holds its lead for %v longer than its lease lasts", time.Duration(end-c.Claims[p.Index].LeadUntil))
	}
	by := p.Incarnation()
	c.global.relied = append(c.global.relied, reliance{p, p.Clock, by, local, global, p.Stack.Election().Support()})
}
