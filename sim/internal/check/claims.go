package check

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Claims are the claims of a process, which knows only its own clock. Instants are readings
// of that clock; fields of type int64 are the same in true time.
type Claims struct {
	Leading    bool
	leads      int // of the incarnation
	expiration timed.Instant
	LeadUntil  int64
	Support    timed.Set

	GlobalEnd   timed.Instant // 0: it does not lead globally
	globalUntil int64
	Stamps      *leader.QuorumStamp

	LockedTo  timed.Incarnation
	LockEnd   timed.Instant
	LockUntil int64
	handed    timed.Incarnation // may take the vote over

	View      *membership.View
	valid     timed.Instant
	ViewUntil int64
	leader    timed.Incarnation // of the view
	members   timed.Set         // of the view: places of the processes whose present incarnations it has

	proposal   *membership.View
	staleView  membership.ViewID // the view that became stale last
	bound      int64             // of a process that crashed: until when its vote binds
	timeline   clocksync.TimelineID
	shown      clocksync.Time                          // at the last turn
	told       bool                                    // the last event about its leads said that one has begun
	toldGlobal bool                                    // the same for global leads
	toldFresh  bool                                    // the same for leases of views
	left       map[clocksync.TimelineID]clocksync.Time // the last time shown on each timeline that was left
}

// Leads reports whether the process with an index leads.
func (c *Checker) Leads(i int) bool { return c.Now < c.Claims[i].LeadUntil }

// Fresh reports whether the process with an index has an up-to-date view.
func (c *Checker) Fresh(i int) bool { return c.Now < c.Claims[i].ViewUntil }

// updateLeadUntil, updateLockUntil and updateViewUntil compute when a claim ends in true
// time.
func (cl *Claims) updateLeadUntil(n *Process) {
	cl.LeadUntil = 0
	if cl.Leading {
		cl.LeadUntil = n.Clock.When(cl.expiration)
	}
}

func (cl *Claims) updateLockUntil(n *Process) {
	cl.LockUntil = 0
	if cl.LockedTo.Valid() {
		cl.LockUntil = n.Clock.When(cl.LockEnd)
	}
}

func (cl *Claims) updateViewUntil(n *Process) {
	cl.ViewUntil = 0
	if cl.View != nil && cl.valid > 0 {
		cl.ViewUntil = n.Clock.When(cl.valid)
	}
}

// setView changes the view of the node, to nil for none. It records members by their places,
// not their ids, which rivals share.
func (cl *Claims) setView(c *Checker, v *membership.View) {
	cl.View, cl.leader, cl.members = v, timed.Incarnation{}, timed.Set{}
	if v == nil {
		return
	}
	cl.leader = timed.Incarnation{Node: v.ID.Leader, Boot: v.ID.Boot}
	for _, n := range c.processes {
		if v.Has(n.Incarnation()) {
			cl.members.Add(n.place())
		}
	}
}
