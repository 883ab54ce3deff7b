package failaware

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/brief"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// LeaderAnswer says who leads, as far as this node knows.
type LeaderAnswer struct {
	// Leader is this node while it leads. Otherwise it is the node that this node's
	// vote is bound to or, of the global lead, the node that was last heard to have it;
	// NoNode if there is none.
	Leader NodeID
	// Boot is the leader's incarnation; 0 if it is not known.
	Boot BootID
	// Leads says that this node leads: no other node does, in its logical partition or,
	// of the global lead, in the group.
	Leads bool
	// UpToDate says that a lease or a vote of this node stands behind the answer: while
	// it does, this node supports no node but Leader. Without it, Leader is hearsay.
	UpToDate bool
	// AtMost is how long the lease or the vote lasts after AsOf unless it is renewed;
	// 0 unless UpToDate. It is an upper bound: the node may step down earlier, so ask
	// again rather than keep the answer.
	AtMost time.Duration
	// AsOf is the reading of the hardware clock at which the answer holds.
	AsOf Instant
	// Since is when this node's uninterrupted lead began; 0 unless Leads. Boot and Since
	// name the lead: two answers that agree on them are of the same lead.
	Since Instant
	// Support are the nodes that voted for this node, of the global lead those whose votes
	// count in the quorum system; empty unless Leads.
	Support Set
}

// String says who leads, as in "node 2 leads, up to date for at most 57.2ms".
func (a LeaderAnswer) String() string {
	switch {
	case a.Leader == NoNode:
		return "no leader is known"
	case a.Leads:
		return fmt.Sprintf("this node, %v, leads with the support of %v, for at most %s", a.Leader, a.Support, brief.Duration(a.AtMost))
	case a.UpToDate:
		return fmt.Sprintf("node %v leads, up to date for at most %s", a.Leader, brief.Duration(a.AtMost))
	}
	return fmt.Sprintf("node %v leads, by hearsay", a.Leader)
}

// ViewAnswer is the agreed group that this node is a member of.
type ViewAnswer struct {
	// View is the view installed last. Before the first one it is empty, with an ID of
	// none. It is never nil in an answer of a node, and must not be changed.
	View *View
	// UpToDate says that no other up-to-date view anywhere shares a member with this
	// one.
	UpToDate bool
	// AtMost is how long that lasts after AsOf unless the view is renewed; 0 unless
	// UpToDate. It is an upper bound: the node may withdraw the view earlier, so ask
	// again rather than keep the answer.
	AtMost time.Duration
	// AsOf is the reading of the hardware clock at which the answer holds.
	AsOf Instant
}

// String says which view it is, as in "view 3@1/… of {1 2}, up to date for at most
// 57.2ms".
func (a ViewAnswer) String() string {
	switch {
	case a.View == nil || a.View.ID.None():
		return "no view yet"
	case a.UpToDate:
		return fmt.Sprintf("view %v of %v, up to date for at most %s", a.View.ID, a.View.Set, brief.Duration(a.AtMost))
	}
	return fmt.Sprintf("view %v of %v, not up to date", a.View.ID, a.View.Set)
}

// Leader says who leads this node's logical partition. It takes no lock and does not
// allocate; it is safe for concurrent use.
func (n *Node) Leader() LeaderAnswer { return leaderFrom(n.loop.Snapshot, n.clock.Read) }

// Leads reports whether this node leads now. It holds at the time at which the
// clock was read, in the call; to act as a leader safely, see [Node.Lead]. It takes no
// lock and does not allocate; it is safe for concurrent use.
func (n *Node) Leads() bool { return n.Leader().Leads }

// GlobalLeader says who leads globally, with the votes of a quorum ([Config.Quorum]).
// Another node's lead is hearsay: [Node.Verify] asks that node, and
// [Node.FindGlobalLeader] searches for the leader. It takes no lock and does not allocate;
// it is safe for concurrent use.
func (n *Node) GlobalLeader() LeaderAnswer { return globalFrom(n.loop.Snapshot, n.clock.Read) }

// LeadsGlobally reports whether this node leads globally now. It holds at the
// time at which the clock was read, in the call; to act as the global leader
// safely, see [Node.LeadGlobally] and [Node.Timestamp]. It takes no lock and does not
// allocate; it is safe for concurrent use.
func (n *Node) LeadsGlobally() bool { return n.GlobalLeader().Leads }

// View returns the agreed group and whether it is up to date. It takes no lock and
// does not allocate; it is safe for concurrent use.
func (n *Node) View() ViewAnswer { return viewFrom(n.loop.Snapshot, n.clock.Read) }

// Instant reads the hardware clock by which answers are timed. It counts the time that the
// machine is asleep. All nodes and processes of one machine share the clock; the clocks of
// two machines do not compare. It is safe for concurrent use.
func (n *Node) Instant() Instant { return n.clock.Now() }

// tries is how often a reader looks again when the snapshot changed under it. The
// loop publishes a few times a round, so more than two tries are rare.
const tries = 8

// current returns a snapshot that was still the published one after the clock was
// read, and that reading; ok is false when there was none in a few tries, or nothing may
// rest on the reading.
//
// The second load makes "yes" answers safe. The loop publishes before it lets
// others know: if the snapshot with a lease is still the published one after the clock
// was read, no node can have been told at that time that the lease was given up.
// Without it, a reader that is held up between load and clock would vouch for a lease
// that was given up meanwhile.
func current(load func() *loop.Snapshot, read func() hwclock.Reading) (s *loop.Snapshot, now timed.Instant, ok bool) {
	for range tries {
		s = load()
		r, trusted := s.Trust.Read(read)
		now = r.Now
		if load() == s {
			return s, now, trusted && s.Era == r.Era
		}
	}
	return s, now, false
}

// left returns how much of a lease is left at now.
func left(until, now timed.Instant) time.Duration { return max(until.Sub(now), 0) }

func leaderFrom(load func() *loop.Snapshot, read func() hwclock.Reading) LeaderAnswer {
	s, now, ok := current(load, read)
	if !ok {
		return LeaderAnswer{AsOf: now}
	}
	return leaderAnswer(s.Lead(now), s.Phase, now)
}

func globalFrom(load func() *loop.Snapshot, read func() hwclock.Reading) LeaderAnswer {
	s, now, ok := current(load, read)
	if !ok {
		return LeaderAnswer{AsOf: now}
	}
	return leaderAnswer(s.GlobalLead(now), s.GlobalPhase, now)
}

func leaderAnswer(l stack.Lead, phase *loop.Phase, now timed.Instant) LeaderAnswer {
	a := LeaderAnswer{Leader: l.Leader.Node, Boot: l.Leader.Boot, Leads: l.Leads, UpToDate: l.UpToDate, AsOf: now, Support: l.Support}
	if l.UpToDate {
		a.AtMost = left(l.Until, now)
	}
	if l.Leads {
		a.Since = phase.Since
	}
	return a
}

func viewFrom(load func() *loop.Snapshot, read func() hwclock.Reading) ViewAnswer {
	s, now, ok := current(load, read)
	a := ViewAnswer{View: someView(s.View), AsOf: now}
	if ok && s.UpToDate(now) {
		a.UpToDate, a.AtMost = true, left(s.ValidUntil, now)
	}
	return a
}

// noView is the view before the first one.
var noView = new(View)

// someView returns a view, or the empty one for nil.
func someView(v *View) *View {
	if v == nil {
		return noView
	}
	return v
}
