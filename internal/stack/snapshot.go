package stack

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Snapshot has the state from which readers answer by the clock alone. It is a value.
type Snapshot struct {
	Self        timed.Incarnation
	Ready       bool
	Leading     bool // valid while now < Expiration
	Expiration  timed.Instant
	Support     timed.Set
	Global      bool // leads globally, valid while now < GlobalUntil
	GlobalUntil timed.Instant
	Stamps      *leader.QuorumStamp // of the votes behind the global lease
	Globally    timed.NodeID        // the global leader at the turn, as far as known
	Following   timed.Incarnation   // to which the vote is bound, valid while now < LockedUntil
	LockedUntil timed.Instant
	View        *membership.View
	ValidUntil  timed.Instant // the view is up to date before this
	Alive       timed.Set
	Clock       clocksync.Snapshot
	Epoch       *epoch.State // nil where the quorum system is not replaced
}

// Snapshot returns the state to publish after a turn at now.
func (s *Stack) Snapshot(now timed.Instant) Snapshot {
	snap := Snapshot{Self: s.cfg.Self, Ready: s.ready, Support: s.election.Support(),
		View: s.views.View(), ValidUntil: s.views.ValidUntil(), Alive: s.alive, Clock: s.clock.Snapshot()}
	snap.Expiration, snap.Leading = s.election.Leading()
	if s.quorate() {
		snap.GlobalUntil, snap.Global = s.election.LeadingGlobally()
		snap.Stamps, _ = s.election.QuorumStamp(now)
		snap.Globally = s.GlobalLeader(now)
	}
	snap.Epoch = s.epochs.state
	snap.Following, snap.LockedUntil = s.election.Locked(now)
	return snap
}

// Self returns the incarnation.
func (s *Stack) Self() timed.Incarnation { return s.cfg.Self }

// Leads reports whether the node leads at now.
func (s *Stack) Leads(now timed.Instant) bool { return s.election.Leads(now) }

// LeadsGlobally reports whether the node leads globally at now.
func (s *Stack) LeadsGlobally(now timed.Instant) bool { return s.election.LeadsGlobally(now) }

// GlobalLeader returns the global leader at now as far as this node knows: itself, the
// node that it is locked to, or one that it hears; NoNode if it knows of none. For others
// it relies on their last packets. [Stack.Verify] asks them.
func (s *Stack) GlobalLeader(now timed.Instant) timed.NodeID {
	if s.election.LeadsGlobally(now) {
		return s.cfg.Self.Node
	}
	if to, _ := s.election.Locked(now); to.Valid() && to != s.cfg.Self && s.election.LeadsHere(to.Node) {
		return to.Node
	}
	for id := s.alive.Next(0); id != 0; id = s.alive.Next(id) {
		if s.election.LeadsHere(id) {
			return id
		}
	}
	return timed.NoNode
}

// Line returns the line of this node's timeline; own is false unless that is the current
// one.
func (s *Stack) Line() (l clocksync.Line, own bool) { return s.clock.Line() }

// The machines of the layers, for reading in the same goroutine.

// Datagram returns the datagram service.
func (s *Stack) Datagram() *datagram.Service { return s.datagrams }

// Election returns the election.
func (s *Stack) Election() *leader.Election { return s.election }

// Membership returns the membership service.
func (s *Stack) Membership() *membership.Service { return s.views }

// Clock returns the clock.
func (s *Stack) Clock() *clocksync.Sync { return s.clock }
