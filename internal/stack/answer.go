package stack

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// Readers answer from a snapshot and a reading of the clock. These answers are pure, so
// that the simulator holds them against the truth after every turn.

// Lead is what a snapshot says about a lead at a reading of the clock.
type Lead struct {
	Leader   timed.Incarnation // boot id 0: not known
	Leads    bool              // this node leads
	UpToDate bool              // a lease or a vote of this node stands behind the answer
	Until    timed.Instant     // its end; 0 unless UpToDate
	Support  timed.Set         // empty unless Leads
}

// Lead returns who leads the logical partition.
func (s *Snapshot) Lead(now timed.Instant) Lead {
	switch {
	case s.Leading && now < s.Expiration:
		return Lead{Leader: s.Self, Leads: true, UpToDate: true, Until: s.Expiration, Support: s.Support}
	case s.Following.Valid() && s.Following != s.Self && now < s.LockedUntil:
		return Lead{Leader: s.Following, UpToDate: true, Until: s.LockedUntil}
	}
	return Lead{}
}

// GlobalLead returns who leads globally. Its answer about another node is hearsay.
func (s *Snapshot) GlobalLead(now timed.Instant) Lead {
	switch {
	case s.Global && now < s.GlobalUntil:
		return Lead{Leader: s.Self, Leads: true, UpToDate: true, Until: s.GlobalUntil, Support: s.Stamps.Voters()}
	case s.Globally != s.Self.Node:
		return Lead{Leader: timed.Incarnation{Node: s.Globally}}
	}
	return Lead{}
}

// UpToDate reports whether the view is up to date.
func (s *Snapshot) UpToDate(now timed.Instant) bool { return s.View != nil && now < s.ValidUntil }

// Continues reports whether a lead that lasts now is that of the snapshot before. It is
// another lead if the lease of the snapshot ran out before it was renewed.
func (s *Snapshot) Continues(now timed.Instant, before *Snapshot) bool {
	return before.Self == s.Self && before.Leading && now < before.Expiration
}

// ContinuesGlobally is as Continues for the global lead.
func (s *Snapshot) ContinuesGlobally(now timed.Instant, before *Snapshot) bool {
	return before.Self == s.Self && before.Global && now < before.GlobalUntil
}

// Between returns the snapshot of a node between two incarnations: the knowledge of the
// last one, which may be nil, without any claim.
func Between(self timed.Incarnation, e *epoch.State, last *Snapshot) Snapshot {
	s := Snapshot{Self: self, Epoch: e}
	if last != nil {
		s.Clock, s.View = last.Clock.Unclaimed(), last.View
	}
	return s
}

// Reading returns the reading of the group's clock, without claims if the hardware clock
// is not trusted.
func (s *Snapshot) Reading(now timed.Instant, trusted bool) clocksync.Reading {
	if trusted {
		return s.Clock.Read(now)
	}
	c := s.Clock.Unclaimed()
	return c.Read(now)
}
