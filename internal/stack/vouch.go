package stack

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// In a group at rest all members hear of each other through the leader, and send direct
// packets to each other only once in an IndirectPeriod. A request that renews a view says
// which request all members have answered, and so that they ran when it left.

// vouchFor notes as evidence what a request that renews a view says of its members: all
// have answered the request with the number Answered, or a later one. That request left
// the leader earlier than this one, by the difference on the leader's clock.
func (s *Stack) vouchFor(now, received timed.Instant, p *wire.Packet, d datagram.Delay) {
	part, view := &p.Part, s.views.View()
	if part.Kind != membership.Renew || part.Answered == 0 || part.Answered > p.Header.Stamp {
		return
	}
	if view == nil || view.ID != part.ID {
		return
	}
	rho := s.cfg.Timing.MaxDrift
	since := received.Add(-rho.Upper(d.Bound) - rho.Wait(p.Header.Stamp.Sub(part.Answered)))
	var state leader.State
	s.election.FillState(now, &state)
	spare := s.broadcast == nil && state == s.rest.state && now.Sub(since) <= s.cfg.Timing.VouchedPeriod()
	for i := range view.Members {
		m := view.Members[i].Incarnation
		if m.Node == s.cfg.Self.Node || m.Node == p.Header.Source {
			continue
		}
		s.heardIndirectly(since, m)
		// The next such request will rest on the vote that leaves in this turn. Only direct
		// packets carry a broadcast, and a state of this node that the member may not know yet.
		if spare && s.rest.known.Has(m.Node) && s.versions.countsOnVouching(m) {
			s.datagrams.NoteSentIndirectly(now, m.Node)
		}
	}
}

// heardIndirectly takes evidence from others that an incarnation ran at since.
func (s *Stack) heardIndirectly(since timed.Instant, i timed.Incarnation) {
	s.datagrams.NoteHeardIndirectly(since, i)
	s.versions.noteAlive(since, i)
}
