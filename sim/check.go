package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// Violation is a broken promise.
type Violation struct {
	Seed   uint64
	Check  string        // which promise: "SO", "M4", …
	Node   timed.NodeID  // where it showed; 0: in the whole world
	At     time.Duration // true time since the start of the run
	Detail string
	Stack  string // of a panic
}

func (v *Violation) Error() string {
	what, where := v.Check+" broken", ""
	if v.Check == panicCheck {
		what = v.Check
	}
	if v.Node != 0 {
		where = fmt.Sprintf(" at node %d", v.Node)
	}
	s := fmt.Sprintf("seed %d: %s%s after %v: %s", v.Seed, what, where, v.At, v.Detail)
	if v.Stack != "" {
		s += "\n" + v.Stack
	}
	return s
}

// claims is what a node claims from the clock alone, in true time.
type claims struct {
	leading    bool
	expiration timed.Instant
	leadUntil  int64
	support    timed.Set

	globalEnd   timed.Instant // 0: it does not lead globally
	globalUntil int64
	stamps      *leader.QuorumStamp

	lockedTo timed.Incarnation
	lockEnd  timed.Instant
	lockTill int64

	view      *membership.View
	valid     timed.Instant
	viewUntil int64
	leader    timed.Incarnation // of the view
	members   timed.Set         // of the view: places of the processes whose present incarnations are

	proposal  *membership.View
	staleView membership.ViewID // the view that became stale last
	bound     int64             // of a process that crashed: until when its vote binds
	timeline  clocksync.TimelineID
	shown     clocksync.Time                          // at the last turn
	left      map[clocksync.TimelineID]clocksync.Time // what was shown last on timelines that were left
}

// checker holds what all nodes claim against each other, after every event.
type checker struct {
	w       *World
	failed  *Violation
	claims  []claims
	views   map[membership.ViewID]*membership.View
	lines   map[clocksync.TimelineID]*timeline
	onLine  []*timeline       // of each node, to spare the map
	reading clocksync.Reading // of the turn under way
	seen    []membership.ViewID
	heard   []int64 // heard[c.pair(q, p)]: when q last got a fast packet of p's present incarnation
	spell   int64   // for how long at most a peer is alive that hears nothing

	leadChanges uint64 // how often a lead began or ended
	expired     uint64 // how often a lease ran out before it was renewed
	stale       uint64 // how often a view became stale

	// faults, if set, takes evidence of broken clocks, which is no violation
	// in a world that has one; the checks that rest on ρ are off.
	faults func(*Node, *stack.Event)
	// heardUTC, if set, takes events about external time.
	heardUTC func(*stack.Event)
	broken   bool   // a clock has left ρ
	cloned   bool   // a process was cloned
	clones   []bool // who has found out that a process was cloned
	quit     *Node  // has found its id in use, and stops
	leaves   *Node  // must leave, because its application is too slow

	live liveness
}

// timeline is a group time as true time sees it: a line over its leader's
// hardware clock.
type timeline struct {
	id    clocksync.TimelineID
	clock *hardware.Clock
	line  clocksync.Line

	promised timed.Instant // until when the line was announced
}

func (c *checker) reset() {
	c.views = map[membership.ViewID]*membership.View{}
	c.lines = map[clocksync.TimelineID]*timeline{}
	t := &c.w.opt.Timing
	c.spell = int64(t.MaxDrift.Wait(t.Expires) + t.FastThreshold)
	c.live.reset(c.w)
}

// grow makes room for the claims of n processes.
func (c *checker) grow(n int) {
	heard := make([]int64, n*n)
	for q := range c.claims {
		copy(heard[q*n:], c.heard[q*len(c.claims):(q+1)*len(c.claims)])
	}
	c.heard = heard
	c.claims = append(c.claims, make([]claims, n-len(c.claims))...)
	c.clones = append(c.clones, make([]bool, n-len(c.clones))...)
	c.onLine = append(c.onLine, make([]*timeline, n-len(c.onLine))...)
	c.seen = append(c.seen, make([]membership.ViewID, n-len(c.seen))...)
}

// pair returns the place of two nodes in a table of pairs.
func (c *checker) pair(q, p *Node) int { return q.index*len(c.claims) + p.index }

// always lists the checks that do not rest on clocks: they hold whatever clocks
// do.
var always = []string{"M1", "M2", "M3", "codec", "forged", "mismatch", "liveness",
	"invention", "duplicate", "FIFO", "id", "order", "atomicity", "strict", "EVS", "transition", "view", "outcome", "quorum", "memory", "borrowed"}

// despite lists those that do not even rest on boot ids.
var despite = []string{"codec", "forged", "mismatch", "liveness"}

func (c *checker) fail(check string, n *Node, format string, args ...any) {
	c.failAt(check, n.id, format, args...)
}

// failAt is fail for an id.
func (c *checker) failAt(check string, id timed.NodeID, format string, args ...any) {
	if c.failed != nil || c.faults != nil || c.w.opt.Bare || c.broken && !slices.Contains(always, check) ||
		c.cloned && !slices.Contains(despite, check) {
		return
	}
	c.failed = &Violation{Seed: c.w.seed, Check: check, Node: id,
		At: time.Duration(c.w.now - origin), Detail: fmt.Sprintf(format, args...)}
}

// event takes an event that a node reported. It returns whether the node asks
// for a new incarnation.
func (c *checker) event(n *Node, e *stack.Event) bool {
	if c.faults != nil {
		c.faults(n, e)
	}
	switch e.Kind {
	case stack.EventViewInstalled:
		c.w.count.Views++
		c.installed(n, e.View, e.Previous)
	case stack.EventElected:
		c.w.count.Elections++
		c.leadChanges++
		c.live.changed()
	case stack.EventLeadLost:
		c.leadChanges++
		c.lost(n, e.Lost)
		c.live.changed()
	case stack.EventViewStale:
		c.stale++
		c.claims[n.index].staleView = e.View.ID
		c.sometimes(ViewStale)
		c.live.changed()
	case stack.EventViewFresh:
		if c.claims[n.index].staleView == e.View.ID {
			c.sometimes(StaleAndFresh)
		}
	case stack.EventPeerSilent:
		if e.Deaf {
			c.sometimes(DeafPeer)
		}
	case stack.EventClockAdopted:
		c.sometimes(ClockAdopted)
		c.adopted(n, e.Timeline)
	case stack.EventClockStepped:
		c.sometimes(ClockStepped)
		c.adopted(n, e.Timeline)
	case stack.EventClockFault:
		c.sometimes(ClockFaulty)
		c.fail("clock", n, "blames the clock of node %d (bound %v) although all clocks keep ρ", e.Peer, e.Bound)
	case stack.EventTwins:
		c.twins(n, e)
	case stack.EventDuplicateID:
		c.duplicate(n)
	case stack.EventSlowConsumer:
		c.sometimes(CastSlow)
	case stack.EventOverrun:
		c.leaves = n
	case stack.EventMismatch:
		c.fail("mismatch", n, "thinks that node %d has other settings", e.Peer)
	case stack.EventUTCChanged, stack.EventFalseticker, stack.EventTruechimer:
		c.utcEvent(n, e)
	case stack.EventGlobalElected, stack.EventGlobalLost:
		c.live.changed()
		if e.Kind == stack.EventGlobalLost {
			c.checkStable(n, e)
		}
	case stack.EventVerified:
		c.verified(n, e)
	case stack.EventEpoch:
		c.epoch(n, e)
	case stack.EventOtherQuorum:
		c.fail("mismatch", n, "thinks that node %d has another quorum system", e.Peer)
	case stack.EventRestart:
		return true
	}
	return false
}

// lost counts why a lead ended, and what it left behind.
func (c *checker) lost(n *Node, why leader.Reason) {
	switch why {
	case leader.LeaseExpired:
		c.expired++
		c.sometimes(LeaseExpired)
		if c.claims[n.index].proposal != nil {
			c.sometimes(LeaseExpiredProposing)
		}
	case leader.Outranked:
		c.sometimes(Outranked)
	case leader.Resigned:
		c.sometimes(HandedOver)
	}
	if c.leaders(n) == 0 {
		c.sometimes(NobodyLeads)
	}
}

// leaders counts who leads besides n.
func (c *checker) leaders(n *Node) (count int) {
	for i := range c.w.nodes {
		if i != n.index && c.leads(i) {
			count++
		}
	}
	return count
}

// turn looks at what a node claims after a turn.
func (c *checker) turn(n *Node, now timed.Instant) {
	cl := &c.claims[n.index]
	el, mb := n.st.Election(), n.st.Membership()
	// All claims of the node are brought up to date before any is checked: a
	// turn may end one and begin another.
	expiration, leading := el.Leading()
	support, view, valid := el.Support(), mb.View(), mb.ValidUntil()
	to, until := el.Locked(now)
	lead := leading != cl.leading || expiration != cl.expiration || support != cl.support
	lock := to != cl.lockedTo || until != cl.lockEnd
	fresh := view != cl.view || valid != cl.valid
	if lock {
		c.checkMove(n, to)
	}
	if lead || lock || fresh {
		c.live.account(c.w.now) // for the time in which the old claims held
		if lead {
			cl.leading, cl.expiration, cl.support = leading, expiration, support
			cl.ageLead(n)
		}
		if lock {
			cl.lockedTo, cl.lockEnd = to, until
			cl.ageLock(n)
		}
		if fresh {
			if view != cl.view {
				cl.look(c, view)
			}
			cl.valid = valid
			cl.ageView(n)
		}
	}
	if lead {
		c.checkLead(n)
	}
	if lock {
		c.checkLock(n)
	}
	if fresh {
		c.checkView(n)
	}
	if c.w.global != nil {
		c.lookGlobal(n, now)
		if lock {
			c.checkFreed(n)
		}
		if lead {
			c.checkReliances(n)
		}
	}
	if p := mb.Proposal(); p != cl.proposal {
		before := cl.proposal
		cl.proposal = p
		switch {
		case p == nil:
		case before == nil || before.Set != p.Set:
			c.checkProposal(n, p, now)
		case before.ID.Sequence < p.ID.Sequence:
			c.sometimes(ProposalOvertaken)
		}
	}
	if c.w.external != nil {
		c.checkLine(n, now)
	}
	c.checkClock(n, now)
	c.live.observe(c.w.now)
}

// ageLead, ageLock and ageView compute when a claim ends in true time.
func (cl *claims) ageLead(n *Node) {
	cl.leadUntil = 0
	if cl.leading {
		cl.leadUntil = n.clock.When(cl.expiration)
	}
}

func (cl *claims) ageLock(n *Node) {
	cl.lockTill = 0
	if cl.lockedTo.Valid() {
		cl.lockTill = n.clock.When(cl.lockEnd)
	}
}

func (cl *claims) ageView(n *Node) {
	cl.viewUntil = 0
	if cl.view != nil && cl.valid > 0 {
		cl.viewUntil = n.clock.When(cl.valid)
	}
}

// look takes another view of the node, or none. Members are noted by their
// places, not their ids: a rival shares its id.
func (cl *claims) look(c *checker, v *membership.View) {
	cl.view, cl.leader, cl.members = v, timed.Incarnation{}, timed.Set{}
	if v == nil {
		return
	}
	cl.leader = timed.Incarnation{Node: v.ID.Leader, Boot: v.ID.Boot}
	for _, n := range c.w.nodes {
		if v.Has(timed.Incarnation{Node: n.id, Boot: n.boot}) {
			cl.members.Add(n.place())
		}
	}
}

func (c *checker) crashed(n *Node) {
	cl := &c.claims[n.index]
	if c.leads(n.index) {
		c.sometimes(LeaderCrashed)
		if cl.proposal != nil {
			c.sometimes(LeaderCrashedProposing)
		}
	}
	*cl = claims{bound: cl.lockTill}
	if c.w.cast != nil {
		c.w.cast.check.crashed(n)
	}
	if !slices.ContainsFunc(c.w.nodes, func(m *Node) bool { return m.up }) {
		c.sometimes(AllCrashed)
	}
	c.live.changed()
}

func (c *checker) started(n *Node) {
	if c.claims[n.index].bound > c.w.now {
		c.sometimes(RestartedEarly)
	}
	c.claims[n.index] = claims{}
	for i, m := range c.w.nodes {
		c.heard[c.pair(m, n)], c.heard[c.pair(n, m)] = 0, 0
		c.claims[i].members.Remove(n.place()) // nobody has a view with the new incarnation
	}
	c.onLine[n.index] = nil
	c.seen[n.index] = membership.ViewID{}
	c.live.changed()
}

// rebent takes a change of a node's clock rate.
func (c *checker) rebent(n *Node) {
	if n.up {
		c.live.account(c.w.now)
		cl := &c.claims[n.index]
		cl.ageLead(n)
		cl.ageGlobal(n)
		cl.ageLock(n)
		cl.ageView(n)
	}
}

func (c *checker) leads(i int) bool { return c.w.now < c.claims[i].leadUntil }

func (c *checker) fresh(i int) bool { return c.w.now < c.claims[i].viewUntil }
