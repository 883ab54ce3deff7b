package membership

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Config is what a [Service] needs to know.
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing
}

// Kind tells effects apart.
type Kind uint8

const (
	// RequestSoon: the leader has something to say about views; start a round.
	RequestSoon Kind = iota + 1
	// Installed: View was installed, coming from Previous.
	Installed
	// Fresh: the view is up to date from now on.
	Fresh
	// Stale: the view is not up to date any more, for Reason.
	Stale
	// Dropped: all members have dropped the lease of the resigned view.
	Dropped
)

// Reason says why a view became stale.
type Reason uint8

const (
	// NoReason is the zero Reason.
	NoReason Reason = iota
	// LeaseExpired: no renewal came in time.
	LeaseExpired
	// Proposed: a next view has been proposed.
	Proposed
	// LeadEnded: this node led, and does so no more.
	LeadEnded
	// LeaderResigned: the leader said that it gives up.
	LeaderResigned
	// ClockFault: the local hardware clock cannot be trusted.
	ClockFault
)

func (r Reason) String() string {
	switch r {
	case LeaseExpired:
		return "lease expired"
	case Proposed:
		return "next view proposed"
	case LeadEnded:
		return "lead ended"
	case LeaderResigned:
		return "leader resigned"
	case ClockFault:
		return "clock fault"
	}
	return "none"
}

// Effect is something for the caller to do, in order.
type Effect struct {
	Kind     Kind
	View     *View
	Previous ViewID
	Reason   Reason
	By       timed.NodeID
}

// Votes is how the service asks for the recorded votes of the support set.
type Votes interface {
	// LeaseOf returns until when, on this node's clock, the vote that a
	// member's incarnation last gave is surely binding it; ok is false
	// without a recorded vote.
	LeaseOf(timed.Incarnation) (until timed.Instant, ok bool)
	// Flushed reports whether the members of a proposal hold the messages
	// that they must hold before they install it.
	Flushed(ViewID) bool
}

// Service is the state of one node in the membership service: as a member, and
// as a leader while it leads. It is a pure machine for one goroutine.
type Service struct {
	cfg Config

	// As a member.
	installed  *View
	validUntil timed.Instant // the lease on the installed view
	fresh      bool          // whether Fresh was reported last
	acked      ViewID        // the proposal acknowledged last, own ones included
	over       ViewID        // the view whose leader resigned: never renewed again
	sequence   uint64        // the largest sequence known

	// As a leader.
	leading  bool
	view     *View // committed by this leadership
	proposal *View // open
	acks     timed.Set
	lineage  []Member      // of those who have acknowledged
	granted  timed.Instant // end of the longest lease granted on view
	wait     timed.Instant // those left behind may count on theirs until then
	tried    bool          // the wait is over, and votes are missing: a reply is next
	spread   timed.Set     // members that are known to have installed view

	carried  timed.Instant // end of the leases granted on a view that was given up
	resigned *View         // the view given up; dropped holds who has confirmed
	dropped  timed.Set
}

// New returns the membership service of one incarnation.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// View returns the installed view, or nil.
func (s *Service) View() *View { return s.installed }

// Proposal returns the open proposal of this leader, or nil.
func (s *Service) Proposal() *View { return s.proposal }

// Committed returns the view that this leader renews, or nil.
func (s *Service) Committed() *View { return s.view }

// ValidUntil returns the end of the lease on the installed view.
func (s *Service) ValidUntil() timed.Instant { return s.validUntil }

// UpToDate reports whether the installed view is up to date at now (M7).
func (s *Service) UpToDate(now timed.Instant) bool { return s.installed != nil && now < s.validUntil }

// Report writes what to say in replies.
func (s *Service) Report(r *Report) {
	r.Acknowledged, r.Installed, r.Sequence = s.acked, s.holding(), s.sequence
}

// holding returns the id of the installed view.
func (s *Service) holding() ViewID {
	if s.installed == nil {
		return ViewID{}
	}
	return s.installed.ID
}

// Deadline returns when HandleTimeout is next due.
func (s *Service) Deadline() timed.Instant {
	d := timed.Never
	if s.fresh {
		d = s.validUntil
	}
	if s.proposal != nil && s.acks == s.proposal.Set && !s.tried {
		d = timed.Earlier(d, s.wait)
	}
	return d
}

// HandleTimeout does what has become due.
func (s *Service) HandleTimeout(now timed.Instant, votes Votes, out []Effect) []Effect {
	if s.fresh && now >= s.validUntil {
		by := timed.NoNode
		if s.installed != nil {
			by = s.installed.ID.Leader
		}
		out = s.drop(LeaseExpired, by, out)
	}
	return s.tryCommit(now, votes, out)
}

// drop ends the up-to-date flag at once.
func (s *Service) drop(why Reason, by timed.NodeID, out []Effect) []Effect {
	s.validUntil = 0
	if s.fresh {
		s.fresh = false
		out = append(out, Effect{Kind: Stale, View: s.installed, Reason: why, By: by})
	}
	return out
}

// extend makes the installed view valid until the given instant at least.
func (s *Service) extend(now, until timed.Instant, out []Effect) []Effect {
	s.validUntil = timed.Later(s.validUntil, until)
	if !s.fresh && now < s.validUntil {
		s.fresh = true
		out = append(out, Effect{Kind: Fresh, View: s.installed})
	}
	return out
}

func (s *Service) install(v *View, out []Effect) []Effect {
	prev := s.holding()
	out = s.drop(Proposed, v.ID.Leader, out)
	s.installed = v
	return append(out, Effect{Kind: Installed, View: v, Previous: prev})
}

// Learn notes a sequence that some message reported.
func (s *Service) Learn(seq uint64) {
	if seq <= reachable {
		s.sequence = max(s.sequence, seq)
	}
}

// HandlePart takes the view part of a request that this node supports, at a
// member. sent is the packet's stamp on the leader's clock and received that on
// ours; bound is the delay bound of the packet in real time.
func (s *Service) HandlePart(now timed.Instant, from timed.Incarnation, p *Part,
	sent, received timed.Instant, bound time.Duration, out []Effect) []Effect {
	if p.Kind == NoPart || p.ID.Leader != from.Node || p.ID.Boot != from.Boot || p.ID.Sequence > reachable {
		return out
	}
	switch p.Kind {
	case Propose:
		return s.acknowledge(p, out)
	case Commit:
		if p.View == nil || p.ID == s.over {
			return out
		}
		if p.ID != s.acked || !p.View.Has(s.cfg.Self) {
			return out
		}
		if s.installed == nil || s.installed.ID != p.ID {
			out = s.install(p.View, out)
		}
	case Renew:
		if s.installed == nil || s.installed.ID != p.ID || p.ID == s.over {
			return out
		}
		if p.ID != s.acked {
			return out // a later proposal has been acknowledged: never again
		}
	}
	return s.extend(now, s.leaseEnd(now, p.Until, sent, received, bound), out)
}

// leaseEnd returns until when, on this clock, a lease counts that ends at until
// on the leader's: R + remaining(1−2ρ) − ub(m)(1+ρ).
func (s *Service) leaseEnd(now, until, sent, received timed.Instant, bound time.Duration) timed.Instant {
	rho := s.cfg.Timing.MaxDrift
	remaining := until.Sub(sent)
	if remaining <= 0 {
		return 0
	}
	return received.Add(rho.Trust(remaining) - rho.Upper(bound))
}

func (s *Service) acknowledge(p *Part, out []Effect) []Effect {
	if p.View == nil || p.View.ID != p.ID {
		return out
	}
	if !p.View.Has(s.cfg.Self) {
		return out
	}
	if p.ID == s.acked || p.ID.Sequence <= s.acked.Sequence {
		return out // known, or overtaken: the report says by what
	}
	s.acked = p.ID
	s.Learn(p.ID.Sequence)
	return s.drop(Proposed, p.ID.Leader, out)
}

// HandleResign takes the leader's word that it gives up a view. It reports
// whether the lease is dropped here, so that the caller can confirm it.
func (s *Service) HandleResign(from timed.Incarnation, id ViewID, out []Effect) ([]Effect, bool) {
	if id.Leader != from.Node || id.Boot != from.Boot {
		return out, false
	}
	if id == s.acked {
		s.over = id // only the acknowledged view can be installed or renewed
	}
	if s.installed != nil && s.installed.ID == id {
		out = s.drop(LeaderResigned, from.Node, out)
	}
	return out, true
}

// Distrust drops the lease because the local clock cannot be trusted.
func (s *Service) Distrust(out []Effect) []Effect { return s.drop(ClockFault, s.cfg.Self.Node, out) }
