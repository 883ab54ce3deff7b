package failaware

import (
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/timed"
)

// LeaderAnswer says who leads, as far as this node knows.
type LeaderAnswer struct {
	// Leader is this node while it leads, and otherwise the node that this node's vote
	// is bound to; NoNode when there is none.
	Leader NodeID
	// Boot is the leader's incarnation.
	Boot BootID
	// Leads says that this node leads its logical partition: nobody else in it does.
	Leads bool
	// UpToDate says that a lease or a vote stands behind the answer: while it does, this
	// node supports nobody but Leader.
	UpToDate bool
	// ValidFor is how long the lease or the vote lasts from the answer on, by this
	// node's hardware clock; 0 unless UpToDate.
	ValidFor time.Duration
	// Support are the nodes that voted for this node; empty unless Leads.
	Support Set
}

// ViewAnswer is the agreed group that this node is a member of.
type ViewAnswer struct {
	// View is the view installed last; nil when there is none. It must not be changed.
	View *View
	// UpToDate says that no other up-to-date view anywhere shares a member with this
	// one.
	UpToDate bool
	// ValidFor is how long that lasts from the answer on, by this node's hardware clock,
	// if the view is not renewed; 0 unless UpToDate.
	ValidFor time.Duration
}

// tries is how often a reader looks again when the snapshot changed under it. The
// loop publishes a few times a round, so more than two tries are rare.
const tries = 8

// current returns a snapshot that was still the published one after the clock was
// read, and that reading; ok is false when there was none in a few tries.
//
// The second load makes "yes" answers safe. The loop publishes before it lets
// others know: if the snapshot with a lease is still the published one after the clock
// was read, nobody can have been told at that time that the lease was given up.
// Without it, a reader that is held up between load and clock would vouch for a lease
// that was given up meanwhile.
func current(load func() *loop.Snapshot, read func() hwclock.Reading) (s *loop.Snapshot, now timed.Instant, ok bool) {
	for range tries {
		s = load()
		r := read()
		if load() == s {
			return s, r.Now, s.Era == r.Era
		}
	}
	return s, 0, false
}

// left returns how much of a lease is left at now.
func left(until, now timed.Instant) time.Duration { return max(until.Sub(now), 0) }

func leaderAt(s *loop.Snapshot, now timed.Instant) LeaderAnswer {
	switch {
	case s.Leading && now < s.Expiration:
		return LeaderAnswer{Leader: s.Self.Node, Boot: s.Self.Boot, Leads: true, UpToDate: true,
			ValidFor: left(s.Expiration, now), Support: s.Support}
	case s.Following.Valid() && s.Following != s.Self && now < s.LockedUntil:
		return LeaderAnswer{Leader: s.Following.Node, Boot: s.Following.Boot, UpToDate: true,
			ValidFor: left(s.LockedUntil, now)}
	}
	return LeaderAnswer{}
}

func viewAt(s *loop.Snapshot, now timed.Instant) ViewAnswer {
	if s.View == nil || now >= s.ValidUntil {
		return ViewAnswer{View: s.View}
	}
	return ViewAnswer{View: s.View, UpToDate: true, ValidFor: left(s.ValidUntil, now)}
}

func leaderFrom(load func() *loop.Snapshot, read func() hwclock.Reading) LeaderAnswer {
	s, now, ok := current(load, read)
	if !ok {
		return LeaderAnswer{}
	}
	return leaderAt(s, now)
}

func viewFrom(load func() *loop.Snapshot, read func() hwclock.Reading) ViewAnswer {
	s, now, ok := current(load, read)
	if !ok {
		return ViewAnswer{View: s.View}
	}
	return viewAt(s, now)
}

// Leader says who leads. It takes no lock and does not allocate; it is safe for
// concurrent use.
func (n *Node) Leader() LeaderAnswer { return leaderFrom(n.loop.Snapshot, n.clock.Read) }

// Leads reports whether this node leads now. It holds at the time at which the
// clock was read, in the call; to act as a leader safely, see [Node.LeaderContext].
// It takes no lock and does not allocate; it is safe for concurrent use.
func (n *Node) Leads() bool { return n.Leader().Leads }

// View returns the agreed group and whether it is up to date. It takes no lock and
// does not allocate; it is safe for concurrent use.
func (n *Node) View() ViewAnswer { return viewFrom(n.loop.Snapshot, n.clock.Read) }

// GlobalAnswer says who leads globally, as far as this node knows.
type GlobalAnswer struct {
	// Leader is this node while it leads globally, and otherwise the node last heard to
	// do so; NoNode when there is none. Of another node it is hearsay: [Node.Verify] makes
	// sure of it.
	Leader NodeID
	// Leads says that this node leads globally: nobody else in the group does.
	Leads bool
	// ValidFor is how long that lasts from the answer on, by this node's
	// hardware clock, unless the lease is renewed; 0 unless Leads.
	ValidFor time.Duration
}

// GlobalLeader says who leads globally ([Config.Quorum]). It takes no lock and
// does not allocate; it is safe for concurrent use.
func (n *Node) GlobalLeader() GlobalAnswer { return globalFrom(n.loop.Snapshot, n.clock.Read) }

// LeadsGlobally reports whether this node leads globally now. It holds at the
// time at which the clock was read, in the call; to act as the global leader
// safely, see [Node.GlobalLeaderContext] and [Node.Timestamp]. It takes no lock and
// does not allocate; it is safe for concurrent use.
func (n *Node) LeadsGlobally() bool { return n.GlobalLeader().Leads }

func globalFrom(load func() *loop.Snapshot, read func() hwclock.Reading) GlobalAnswer {
	s, now, ok := current(load, read)
	switch {
	case ok && s.Global && now < s.GlobalUntil:
		return GlobalAnswer{Leader: s.Self.Node, Leads: true, ValidFor: left(s.GlobalUntil, now)}
	case ok && s.Globally != s.Self.Node:
		return GlobalAnswer{Leader: s.Globally}
	}
	return GlobalAnswer{}
}
