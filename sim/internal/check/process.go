package check

import (
	"slices"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Process is a process of a world.
type Process struct {
	Index int // ID-1 or, for a rival, a later index
	ID    timed.NodeID
	Boot  timed.BootID
	Clock *hardware.Clock // of the machine; a reboot gives it a new one
	Stack *stack.Stack
	Slew  int64 // its MaxSlew
	Up    bool
	Upset bool // the clock gave evidence against itself: a new incarnation is due

	timing *timed.Timing
	patience
}

// patience is how long a process counts a peer as alive, in true time.
type patience struct {
	spell int64 // the longest time for which a peer that hears nothing is alive
	word  int64 // for how long others' word about a peer counts after its last direct packet, unless its KeepalivePeriod is longer
}

// wordOf returns for how long others' word about another process counts here.
func (p *Process) wordOf(q *Process) int64 {
	if q.timing.KeepalivePeriod <= p.timing.KeepalivePeriod {
		return p.word
	}
	t := *p.timing
	t.KeepalivePeriod = q.timing.KeepalivePeriod
	return int64(t.MaxDrift.Wait(t.WordLasts()))
}

// SetTiming says which settings the process runs with. They must not change while it runs.
func (p *Process) SetTiming(t *timed.Timing) {
	p.timing = t
	p.patience = patience{int64(t.MaxDrift.Wait(t.Expires) + t.FastThreshold), int64(t.MaxDrift.Wait(t.WordLasts()))}
}

// Incarnation returns the present incarnation, or the last one.
func (p *Process) Incarnation() timed.Incarnation {
	return timed.Incarnation{Node: p.ID, Boot: p.Boot}
}

// place returns the index as a member of a set of processes.
func (p *Process) place() timed.NodeID { return timed.NodeID(p.Index + 1) }

// Crashed records the end of a process.
func (c *Checker) Crashed(n *Process) {
	cl := &c.Claims[n.Index]
	if c.Leads(n.Index) {
		c.Sometimes(situation.LeaderCrashed)
		if cl.proposal != nil {
			c.Sometimes(situation.LeaderCrashedProposing)
		}
	}
	*cl = Claims{bound: cl.LockUntil}
	c.readers[n.Index].any = false
	if c.cast != nil {
		c.cast.crashed(n)
	}
	if !slices.ContainsFunc(c.processes, func(m *Process) bool { return m.Up }) {
		c.Sometimes(situation.AllCrashed)
	}
	c.Live.changed()
}

// Started records the beginning of an incarnation.
func (c *Checker) Started(n *Process) {
	if c.Claims[n.Index].bound > c.Now {
		c.Sometimes(situation.RestartedEarly)
	}
	c.Claims[n.Index] = Claims{}
	for i, m := range c.processes {
		c.heard[c.pair(m, n)], c.heard[c.pair(n, m)] = hearing{}, hearing{}
		c.Claims[i].members.Remove(n.place()) // no view has the new incarnation
	}
	c.onLine[n.Index] = nil
	c.seen[n.Index] = membership.ViewID{}
	c.readers[n.Index].any = false
	c.paces[n.Index].reset(c.Now, c.Nodes)
	c.clockErrors[n.Index] = clockError{}
	c.Live.changed()
}

// ClockBent records a change of the rate of a process's clock.
func (c *Checker) ClockBent(n *Process) {
	if n.Up {
		c.Live.Account(c.Now)
		cl := &c.Claims[n.Index]
		cl.updateLeadUntil(n)
		cl.updateGlobalUntil(n)
		cl.updateLockUntil(n)
		cl.updateViewUntil(n)
	}
}
