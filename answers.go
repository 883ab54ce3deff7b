package failaware

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// LeaderAnswer says who leads, as far as this node knows.
type LeaderAnswer struct {
	// Leader is this node while it leads, and else the node that this node's
	// vote is bound to; NoNode when there is none.
	Leader NodeID
	// Boot is the leader's incarnation.
	Boot BootID
	// Leads tells that this node leads its logical partition: nobody else in
	// it does.
	Leads bool
	// UpToDate tells that a lease or a vote stands behind the answer: while it
	// does, this node supports nobody but Leader.
	UpToDate bool
	// ValidFor is for how long the lease or the vote lasts from the answer on,
	// by this node's hardware clock; 0 unless UpToDate.
	ValidFor time.Duration
	// Support are the nodes that voted for this node; empty unless Leads.
	Support Set
}

// ViewAnswer is the agreed group that this node is a member of.
type ViewAnswer struct {
	// View is the view installed last; nil when there is none. It must not be
	// changed.
	View *View
	// UpToDate tells that no other up-to-date view anywhere shares a member
	// with this one.
	UpToDate bool
	// ValidFor is for how long that lasts from the answer on, by this node's
	// hardware clock, if the view is not renewed; 0 unless UpToDate.
	ValidFor time.Duration
}

// state is what readers answer from. It is immutable once published.
type state struct {
	stack.Snapshot
	epoch uint32 // of the hardware clock: in another one, every lease is void
	phase *phase
	shown *shown // of the clock's timeline

	globalPhase *phase // as phase, for whether this node leads globally
}

// phase is a time in which it does not change whether this node leads, or whom
// it follows.
type phase struct {
	leads  bool
	since  timed.Instant     // the turn in which it began
	leader timed.Incarnation // whom the node follows, if it does not lead
	over   chan struct{}     // closed after the state of the next phase was published
	lost   *NotLeaderError   // why a lead ended; set before over is closed
}

// tries is how often a reader looks again when the state changed under it. The
// loop publishes a few times a round, so more than two tries are rare.
const tries = 8

// current returns a state that was still the published one after the clock was
// read, and that reading; ok is false when there was none in a few tries.
//
// The second load is what makes "yes" answers safe. The loop publishes before
// it lets others know: if the state that carries a lease is still the published
// one after the clock was read, then nobody can have been told at that time that
// the lease was given up. Without it, a reader that is held up between load and
// clock would vouch for a lease that was given up meanwhile.
func current(load func() *state, read func() hwclock.Reading) (s *state, now timed.Instant, ok bool) {
	for range tries {
		s = load()
		r := read()
		if load() == s {
			return s, r.Now, s.epoch == r.Epoch
		}
	}
	return s, 0, false
}

// left returns how much of a lease is left at now.
func left(until, now timed.Instant) time.Duration { return max(until.Sub(now), 0) }

func (s *state) leaderAt(now timed.Instant) LeaderAnswer {
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

func (s *state) viewAt(now timed.Instant) ViewAnswer {
	if s.View == nil || now >= s.ValidUntil {
		return ViewAnswer{View: s.View}
	}
	return ViewAnswer{View: s.View, UpToDate: true, ValidFor: left(s.ValidUntil, now)}
}

func leaderFrom(load func() *state, read func() hwclock.Reading) LeaderAnswer {
	s, now, ok := current(load, read)
	if !ok {
		return LeaderAnswer{}
	}
	return s.leaderAt(now)
}

func viewFrom(load func() *state, read func() hwclock.Reading) ViewAnswer {
	s, now, ok := current(load, read)
	if !ok {
		return ViewAnswer{View: s.View}
	}
	return s.viewAt(now)
}

func clockFrom(load func() *state, read func() hwclock.Reading) Reading {
	for range tries {
		s := load()
		r := read()
		// What the reader is given counts before the state is looked at again:
		// whoever reads a newer state has then seen it.
		t := s.shown.after(s.readingAt(r))
		s.Clock.Judge(&t)
		if load() == s {
			return t
		}
	}
	// An older state only means wider bounds, as long as the clock was not
	// found faulty meanwhile; a reading that claims nothing is always right.
	s := load()
	return s.shown.after(unknown(s.Clock.Read(read().Now)))
}

func (s *state) readingAt(r hwclock.Reading) Reading {
	t := s.Clock.Read(r.Now)
	if s.epoch != r.Epoch {
		return unknown(t)
	}
	return t
}

// unknown takes all claims from a reading.
func unknown(t Reading) Reading {
	t.Deviation, t.UTCBound = clocksync.UnknownBound, clocksync.UnknownBound
	t.Status, t.Holdover, t.Leap = clocksync.Unsynchronized, true, clocksync.NoLeap
	return t
}

// Leader says who leads. It takes no lock and does not allocate; it is safe for
// concurrent use.
func (n *Node) Leader() LeaderAnswer { return leaderFrom(n.state.Load, n.clock.Read) }

// Leads reports whether this node leads now. It holds at the time at which the
// clock was read, in the call; to act as a leader safely, see
// [Node.LeaderContext]. It takes no lock and does not allocate; it is safe for
// concurrent use.
func (n *Node) Leads() bool { return n.Leader().Leads }

// View returns the agreed group and whether it is up to date. It takes no lock
// and does not allocate; it is safe for concurrent use.
func (n *Node) View() ViewAnswer { return viewFrom(n.state.Load, n.clock.Read) }

// Clock returns group time with its proven deviation. It takes no lock and does
// not allocate; it is safe for concurrent use.
//
// The clock is slewed, and never runs backwards within a timeline; it steps only
// when a [ClockStepped] event says so, onto another timeline.
func (n *Node) Clock() Reading { return clockFrom(n.state.Load, n.clock.Read) }

// Now is another name of [Node.Clock].
func (n *Node) Now() Reading { return n.Clock() }
