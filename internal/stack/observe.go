package stack

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// observe reports what changed in the turn, beyond what handlers said.
func (s *Stack) observe(now timed.Instant, alive timed.Set) {
	if alive != s.alive {
		for id := range alive.Minus(s.alive).All() {
			s.notify(Event{Kind: EventPeerAlive, Peer: id, Bound: s.dg.LastDelay(id).Bound})
		}
		if s.ep.machine != nil {
			s.box.told = s.box.told.Union(alive.Minus(s.alive)) // they may have missed an epoch
		}
		for id := range s.alive.Minus(alive).All() {
			age, heard := s.dg.LastFast(now, id)
			// Who is merely silent was heard for the last time almost expires ago.
			t := &s.cfg.Timing
			deaf := heard && age+2*t.KeepalivePeriod < t.Expires
			s.notify(Event{Kind: EventPeerSilent, Peer: id, Age: age, Bound: s.dg.LastDelay(id).Bound, Deaf: deaf})
		}
		s.alive = alive
	}
	if leads := s.el.Leads(now); leads && !s.leading {
		s.leading = true
		s.notify(Event{Kind: EventElected, Peer: s.cfg.Self.Node, Support: s.el.Support()})
	}
	if s.quorate() {
		s.observeGlobal(now)
	}
	if to, _ := s.el.Locked(now); to != s.following && (to != s.cfg.Self || s.leading) {
		s.following = to
		s.notify(Event{Kind: EventFollowing, Peer: to.Node, Boot: to.Boot})
	}
}

// suspectClocks takes evidence that the clock of a peer or of this node broke
// ρ. A node at fault with more than half of the peers that it hears blames
// itself.
func (s *Stack) suspectClocks(now timed.Instant, from timed.Incarnation, d datagram.Delay) {
	s.notify(Event{Kind: EventClockFault, Peer: from.Node, Boot: from.Boot, Bound: d.Bound})
	if faulty, heard := s.dg.Faults(now); !s.blamed && 2*faulty > heard {
		s.blamed = true
		s.notify(Event{Kind: EventRestart, Peer: from.Node})
	}
}

// Distrust ends everything that rests on the local clock, at once: the caller
// has evidence against it. The incarnation is of no more use.
func (s *Stack) Distrust(now timed.Instant, out []Effect) []Effect {
	s.begin(now, out)
	s.elOut = s.el.Abdicate(now, leader.ClockFault, s.elOut[:0])
	s.perform(now, s.elOut)
	s.mbOut = s.mb.Distrust(now, s.mbOut[:0])
	s.performViews()
	return s.end(now)
}

// Resign gives up the lead in favour of the next contender; the node stays, and
// abstains until another leads or could have.
func (s *Stack) Resign(now timed.Instant, out []Effect) []Effect {
	s.begin(now, out)
	s.elOut = s.el.Yield(now, s.elOut[:0])
	s.perform(now, s.elOut)
	s.box.beat = s.dg.Peers() // all learn at once that this node is no contender
	return s.end(now)
}

// Leave gives up the lead for good and says so; the node goes on to answer until
// [Stack.Left].
func (s *Stack) Leave(now timed.Instant, out []Effect) []Effect {
	s.begin(now, out)
	s.leaving = true
	s.elOut = s.el.Resign(now, s.elOut[:0])
	s.perform(now, s.elOut)
	s.box.beat = s.dg.Peers()
	return s.end(now)
}

// Left reports that nothing of this node binds others any more: it has handed
// over, and may stop.
func (s *Stack) Left(now timed.Instant) bool {
	return s.leaving && !s.el.Releasing() && !s.el.Leads(now)
}

// Snapshot is what readers need to answer from the clock alone. It is a value.
type Snapshot struct {
	Self        timed.Incarnation
	Ready       bool
	Leading     bool // valid while now < Expiration
	Expiration  timed.Instant
	Support     timed.Set
	Global      bool // leads globally, valid while now < GlobalUntil
	GlobalUntil timed.Instant
	Stamps      *leader.QuorumStamp // of the votes behind the global lease
	Globally    timed.NodeID        // who led globally at the turn, as far as known
	Following   timed.Incarnation   // to whom the vote is bound, valid while now < LockedUntil
	LockedUntil timed.Instant
	View        *membership.View
	ValidUntil  timed.Instant // the view is up to date before
	Alive       timed.Set
	Clock       clocksync.Snapshot
	Epoch       *epoch.State // nil where the quorum system is not replaced
}

// Snapshot returns the state to publish after a turn at now.
func (s *Stack) Snapshot(now timed.Instant) Snapshot {
	snap := Snapshot{Self: s.cfg.Self, Ready: s.ready, Support: s.el.Support(),
		View: s.mb.View(), ValidUntil: s.mb.ValidUntil(), Alive: s.alive, Clock: s.ck.Snapshot()}
	snap.Expiration, snap.Leading = s.el.Leading()
	if s.quorate() {
		snap.GlobalUntil, snap.Global = s.el.LeadingGlobally()
		snap.Stamps, _ = s.el.QuorumStamp(now)
		snap.Globally = s.GlobalLeader(now)
	}
	snap.Epoch = s.ep.state
	snap.Following, snap.LockedUntil = s.el.Locked(now)
	return snap
}

// The machines of the layers, for readers in the same goroutine.

// Leads reports whether the node leads at now.
func (s *Stack) Leads(now timed.Instant) bool { return s.el.Leads(now) }

// Election returns the election's state, to look at.
func (s *Stack) Election() *leader.Election { return s.el }

// Membership returns the membership service's state, to look at.
func (s *Stack) Membership() *membership.Service { return s.mb }

// Datagram returns the datagram service's state, to look at.
func (s *Stack) Datagram() *datagram.Service { return s.dg }

// LastPacket returns the effect of the datagram service for the packet handled last:
// what became of it, and its delay bound.
func (s *Stack) LastPacket() datagram.Effect { return s.lastPacket }

// Line returns the line of the own timeline while it is the current one.
func (s *Stack) Line() (clocksync.Line, bool) { return s.ck.Line() }

// Clock returns the clock, to read.
func (s *Stack) Clock() *clocksync.Sync { return s.ck }
