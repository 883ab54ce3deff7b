package stack

import (
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// performViews performs the effects of the membership service.
func (s *Stack) performViews() {
	b := &s.outbox
	if s.broadcast != nil {
		s.freezeBroadcast(s.lastTurn, s.views.Proposal())
	}
	for i := range s.viewsOut {
		e := &s.viewsOut[i]
		switch e.Kind {
		case membership.RequestRound:
			s.election.RequestSoon()
		case membership.SendPart:
			b.part = e.Part
			if s.broadcast != nil {
				b.part.Answered = 0 // all members send to each other anyway
			}
			if e.Part.Until > 0 {
				s.election.NoteGrant(e.Part.Until)
			}
		case membership.SendResign:
			b.resign, b.toAll = e.ID, b.toAll|wire.FrameResign
		case membership.SendDropped:
			b.peer, b.dropped, b.toOne = e.Peer, e.ID, b.toOne|wire.FrameDropped
		case membership.AllDropped:
			s.election.NoteGrantsDropped()
		case membership.Installed:
			if e.View.ID.Leader == s.cfg.Self.Node {
				s.election.NoteCommitted(s.lastTurn)
			}
			if len(e.View.Members) > 1 {
				s.clock.NoteShared()
			}
			if s.broadcast != nil {
				s.installBroadcast(e.View)
			}
			s.notify(Event{Kind: EventViewInstalled, View: e.View, Previous: e.Previous})
		case membership.Fresh:
			s.notify(Event{Kind: EventViewFresh, View: e.View})
		case membership.Stale:
			s.notify(Event{Kind: EventViewStale, View: e.View, Stale: e.Reason, Peer: e.Peer})
		}
	}
	s.viewsOut = s.viewsOut[:0]
}

// partCounts reports whether the view part of a request counts. A view is installed only
// with its terms and with all messages that they demand. Until then its announcement
// counts as lost.
func (s *Stack) partCounts(p *membership.Part) bool {
	return s.broadcast == nil || p.Kind != membership.Commit || s.report().Installed == p.ID || s.broadcast.CanInstall(p.ID)
}

// report returns this node's report about views.
func (s *Stack) report() (r membership.Report) {
	s.views.FillReport(&r)
	return r
}

// LeaseOf implements membership.Votes.
func (s *Stack) LeaseOf(i timed.Incarnation) (until, request timed.Instant, ok bool) {
	v, ok := s.election.Vote(i.Node)
	if !ok || v.Boot != i.Boot {
		return 0, 0, false
	}
	return v.Number.Add(s.cfg.Timing.MaxDrift.Trust(v.LockTime)), v.Number, true
}

// Flushed implements membership.Votes.
func (s *Stack) Flushed(id membership.ViewID) bool {
	return s.broadcast == nil || s.broadcast.Ready(id)
}
