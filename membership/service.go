package membership

import "github.com/failaware/failaware/timed"

// Config configures a [Service].
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing
	// Sequence is the largest that earlier incarnations of the node knew. Views of this
	// one are later.
	Sequence uint64
}

// Votes gives access to the recorded votes of the support set.
type Votes interface {
	// LeaseOf returns until when, on this node's clock, the last vote of an
	// incarnation surely binds it, and the request for which it was given; ok is false
	// without a recorded vote.
	LeaseOf(timed.Incarnation) (until, request timed.Instant, ok bool)
	// Flushed reports whether the members of a proposal hold the messages that
	// they must hold before they install it.
	Flushed(ViewID) bool
}

// Service is the state of one node in the membership service: as a member, and as a
// leader while it leads. It is a pure machine for one goroutine.
type Service struct {
	cfg Config

	// As a member.
	installed  *View
	validUntil timed.Instant // end of the lease on the installed view
	fresh      bool          // Fresh was reported last, and not Stale
	acked      ViewID        // the last acknowledged proposal, possibly this node's own
	resignedID ViewID        // the view whose leader resigned; it is never renewed
	sequence   uint64        // the largest known sequence

	// As a leader.
	leading    bool
	view       *View // committed by this leadership
	proposal   *View // open
	acks       timed.Set
	lineage    []Member      // of the members that have acknowledged
	granted    timed.Instant // end of the longest lease granted on view
	wait       timed.Instant // members left behind may count on their leases until then
	tried      bool          // the wait is over, and votes are missing: a reply comes next
	installers timed.Set     // members that are known to have installed view
	putOff     timed.Set     // nodes that come when the next view is installed

	carried  timed.Instant // end of the leases granted on a view that was given up
	resigned *View         // the view that was given up
	dropped  timed.Set     // its members that have dropped their leases

	inherited      *View // of the leader whose votes were taken over
	inheritedUntil timed.Instant

	audit audit
}

// New returns the membership service of one incarnation.
func New(cfg Config) *Service { return &Service{cfg: cfg, sequence: cfg.Sequence} }

// Sequence returns the largest known sequence.
func (s *Service) Sequence() uint64 { return s.sequence }

// View returns the installed view, or nil.
func (s *Service) View() *View { return s.installed }

// Proposal returns the open proposal of this leader, or nil.
func (s *Service) Proposal() *View { return s.proposal }

// Committed returns the view that this leader renews, or nil.
func (s *Service) Committed() *View { return s.view }

// Resigned returns the view of this leader that members may still count on, or nil.
func (s *Service) Resigned() *View { return s.resigned }

// Inherited returns the last view that [Service.NoteInherited] has noted since this node
// committed one, or nil.
func (s *Service) Inherited() *View { return s.inherited }

// NoteInherited notes that this node may take over the votes of the installed view's
// leader, which has given the view up. Members may count on the view until the given
// instant.
func (s *Service) NoteInherited(until timed.Instant) {
	s.inherited, s.inheritedUntil = s.installed, until
}

// ValidUntil returns the end of the lease on the installed view.
func (s *Service) ValidUntil() timed.Instant { return s.validUntil }

// UpToDate reports whether the installed view is up to date at now (M7).
func (s *Service) UpToDate(now timed.Instant) bool { return s.installed != nil && now < s.validUntil }

// FillReport writes the view part of a reply.
func (s *Service) FillReport(r *Report) {
	r.Acknowledged, r.Installed, r.Sequence = s.acked, s.installedID(), s.sequence
}

// installedID returns the id of the installed view.
func (s *Service) installedID() ViewID {
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

// HandleTimeout does the work that has become due.
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

// NoteSequence notes a sequence that a message reported.
func (s *Service) NoteSequence(sequence uint64) {
	if sequence <= reachable {
		s.sequence = max(s.sequence, sequence)
	}
}

// Distrust drops the lease because the incarnation has ended.
func (s *Service) Distrust(_ timed.Instant, out []Effect) []Effect {
	return s.drop(Distrusted, s.cfg.Self.Node, out)
}
