package membership

import "github.com/failaware/failaware/timed"

// HandleWon takes a round that this node won: its support set, the peers that refused,
// the alive peers, and the accepted boot id of each node.
func (s *Service) HandleWon(now timed.Instant, support, refused, alive timed.Set,
	boot func(timed.NodeID) timed.BootID, votes Votes, out []Effect) []Effect {
	s.leading = true
	if s.proposal == nil && s.view.is(support, boot, s.cfg.Self) {
		return out
	}
	if s.proposal == nil && s.view != nil && s.installers == s.view.Set {
		s.putOff = timed.Set{}
	}
	want := s.want(support, refused, alive, boot)
	switch {
	case s.proposal != nil && s.proposal.same(want):
		return s.tryCommit(now, votes, out)
	case s.proposal == nil && s.view.same(want):
		return out
	}
	return s.propose(want, out)
}

// is reports whether the view has exactly the given incarnations as members.
func (v *View) is(set timed.Set, boot func(timed.NodeID) timed.BootID, self timed.Incarnation) bool {
	if v == nil || v.Set != set {
		return false
	}
	for i := range v.Members {
		m := &v.Members[i]
		if m.Incarnation != self && m.Boot != boot(m.Node) {
			return false
		}
	}
	return true
}

// want returns the members that the next view should have: the support set, and the
// members that are alive and did not refuse. The latter is the second chance (M6),
// which only the same incarnation gets.
func (s *Service) want(support, refused, alive timed.Set, boot func(timed.NodeID) timed.BootID) *View {
	set := support
	var second timed.Set
	if s.view != nil {
		second = s.view.Set
	}
	if s.proposal != nil {
		second = second.Union(s.proposal.Set)
	}
	second = second.Intersect(alive).Minus(refused).Minus(support)
	for id := second.Next(0); id != 0; id = second.Next(id) {
		i := timed.Incarnation{Node: id, Boot: boot(id)}
		if s.view.Has(i) || s.proposal.Has(i) {
			set.Add(id)
		}
	}
	set = set.Minus(s.putOff)
	v := &View{Set: set, Members: make([]Member, 0, set.Len())}
	for id := set.Next(0); id != 0; id = set.Next(id) {
		b := boot(id)
		if id == s.cfg.Self.Node {
			b = s.cfg.Self.Boot
		}
		v.Members = append(v.Members, Member{Incarnation: timed.Incarnation{Node: id, Boot: b}})
	}
	return v
}

// propose opens the next view. The leader's own lease ends with the proposal, and no
// older view is ever renewed.
func (s *Service) propose(want *View, out []Effect) []Effect {
	s.sequence++
	want.ID = ViewID{Sequence: s.sequence, Leader: s.cfg.Self.Node, Boot: s.cfg.Self.Boot}
	s.waitForOldLeases(want)
	s.proposal, s.acks, s.tried = want, timed.SetOf(s.cfg.Self.Node), false
	s.lineage = append(s.lineage[:0], Member{s.cfg.Self, s.installedID()})
	s.acked = want.ID
	out = s.drop(Proposed, s.cfg.Self.Node, out)
	return append(out, Effect{Kind: RequestRound})
}

// PutOff proposes the next view without some nodes that are not members of the committed one.
// They come once all its members have installed it, and come from another view than they.
func (s *Service) PutOff(_ timed.Instant, ids timed.Set, out []Effect) []Effect {
	if s.view != nil {
		ids = ids.Minus(s.view.Set)
	}
	p := s.proposal
	if p == nil || !p.Set.Intersects(ids) {
		return out
	}
	s.putOff = s.putOff.Union(ids)
	next := &View{Set: p.Set.Minus(ids)}
	for i := range p.Members {
		if m := p.Members[i].Incarnation; next.Set.Has(m.Node) {
			next.Members = append(next.Members, Member{Incarnation: m})
		}
	}
	return s.propose(next, out)
}

// waitForOldLeases notes the end of the last leases of the members that the next view
// leaves behind, of the committed view and of the inherited one.
func (s *Service) waitForOldLeases(next *View) {
	s.wait = s.carried
	if s.view.leaves(next) {
		s.wait = timed.Later(s.wait, s.granted)
	}
	if s.inherited.leaves(next) {
		s.wait = timed.Later(s.wait, s.inheritedUntil)
	}
}

// leaves reports whether a member other than the leader is not in the next view. The
// leader drops its view before any other member can.
func (v *View) leaves(next *View) bool {
	if v == nil {
		return false
	}
	for i := range v.Members {
		m := v.Members[i].Incarnation
		if !next.Has(m) && (m.Node != v.ID.Leader || m.Boot != v.ID.Boot) {
			return true
		}
	}
	return false
}

// HandleReport takes the view part of a reply that counted in the election.
func (s *Service) HandleReport(now timed.Instant, from timed.Incarnation, r *Report, supports bool,
	votes Votes, out []Effect) []Effect {
	s.NoteSequence(r.Sequence)
	if s.view != nil && r.Installed == s.view.ID {
		s.installers.Add(from.Node)
	}
	if !s.leading {
		return out
	}
	p := s.proposal
	if p == nil {
		// A member that has acknowledged another proposal since the commit refuses
		// all renewals: the view needs a successor.
		if supports && s.view.Has(from) && r.Acknowledged != s.view.ID {
			return s.propose(s.view.withoutID(), out)
		}
		return out
	}
	if !p.Has(from) {
		return out
	}
	if r.Acknowledged == p.ID {
		if supports && !s.acks.Has(from.Node) {
			s.acks.Add(from.Node)
			s.lineage = append(s.lineage, Member{from, r.Installed})
		}
		return s.tryCommit(now, votes, out)
	}
	if r.Sequence >= p.ID.Sequence && r.Sequence <= reachable {
		return s.propose(p.withoutID(), out)
	}
	return out
}

// withoutID returns a view of the same incarnations without an id.
func (v *View) withoutID() *View {
	next := &View{Set: v.Set, Members: make([]Member, len(v.Members))}
	for i := range v.Members {
		next.Members[i].Incarnation = v.Members[i].Incarnation
	}
	return next
}

// tryCommit commits the open proposal once all its members have acknowledged it, their
// votes still bind them, and no member that was left behind can count on an older view.
func (s *Service) tryCommit(now timed.Instant, votes Votes, out []Effect) []Effect {
	p := s.proposal
	if p == nil || !s.leading {
		return out
	}
	if s.acks != p.Set {
		return out
	}
	if now < s.wait {
		return out
	}
	s.tried = true
	if s.acked != p.ID {
		return out // this node has since acknowledged another leader's proposal
	}
	if until, _ := s.lease(p, votes); until <= now || !votes.Flushed(p.ID) {
		return out
	}
	v := &View{ID: p.ID, Set: p.Set, Members: make([]Member, len(p.Members))}
	copy(v.Members, p.Members)
	for _, m := range s.lineage {
		if v.Set.Has(m.Node) {
			v.Members[v.Set.Rank(m.Node)].Previous = m.Previous
		}
	}
	s.proposal, s.view, s.granted = nil, v, 0
	s.wait, s.carried, s.inherited, s.inheritedUntil = 0, 0, nil, 0
	// Late confirmations for an abandoned view say nothing about the leases that
	// are granted from now on.
	s.resigned = nil
	s.installers = timed.SetOf(s.cfg.Self.Node)
	out = s.install(v, out)
	return append(out, Effect{Kind: RequestRound})
}

// HandleFlushed continues when the members of the open proposal hold the messages that
// they must hold.
func (s *Service) HandleFlushed(now timed.Instant, votes Votes, out []Effect) []Effect {
	return s.tryCommit(now, votes, out)
}

// lease returns the time until which the votes of all members bind them to this leader, and
// the number of the earliest among the requests that they last voted for: all members have
// answered it, or a later one.
func (s *Service) lease(v *View, votes Votes) (until, answered timed.Instant) {
	until, answered = timed.Never, timed.Never
	for i := range v.Members {
		l, request, ok := votes.LeaseOf(v.Members[i].Incarnation)
		if !ok {
			return 0, 0
		}
		until, answered = timed.Earlier(until, l), timed.Earlier(answered, request)
	}
	return until, answered
}

// Announce returns the view part of the request that leaves now. Its last effect is
// SendPart, unless the request says nothing about views. The leader's own lease ends
// with the lease that it grants.
func (s *Service) Announce(now timed.Instant, leads bool, votes Votes, out []Effect) []Effect {
	if !s.leading || !leads {
		return out
	}
	if s.proposal != nil {
		return append(out, Effect{Kind: SendPart, Part: Part{Kind: Propose, ID: s.proposal.ID, View: s.proposal}})
	}
	if s.view == nil {
		return out
	}
	until, answered := s.lease(s.view, votes)
	if until <= now {
		return out
	}
	s.granted = timed.Later(s.granted, until)
	if s.installed == s.view {
		out = s.extend(now, until, out)
	}
	p := Part{Kind: Renew, ID: s.view.ID, Until: until, Answered: answered}
	if s.installers != s.view.Set {
		p.Kind, p.View, p.Answered = Commit, s.view, 0
	}
	return append(out, Effect{Kind: SendPart, Part: p})
}

// HandleGaveUp takes the end of this node's lead. No view of that lead is ever renewed.
// Its last effect is SendResign if members may still count on the view.
func (s *Service) HandleGaveUp(now timed.Instant, why Reason, by timed.NodeID, out []Effect) []Effect {
	s.leading = false
	var resigned ViewID
	if s.view != nil {
		if now < s.granted {
			resigned = s.view.ID
			s.resigned, s.dropped = s.view, timed.SetOf(s.cfg.Self.Node)
			// A view of this node's next lead waits for that instant.
			s.carried = timed.Later(s.carried, s.granted)
		}
		if s.installed == s.view {
			out = s.drop(why, by, out)
		}
	}
	s.proposal = nil
	s.view, s.granted = nil, 0
	s.putOff = timed.Set{}
	if resigned.None() {
		return out
	}
	return append(out, Effect{Kind: SendResign, ID: resigned})
}

// HandleDropped takes a member's confirmation that it has dropped the lease on a
// resigned view. Another incarnation of the same id cannot confirm for the member, which
// may still run and count on its lease.
func (s *Service) HandleDropped(_ timed.Instant, from timed.Incarnation, id ViewID, out []Effect) []Effect {
	if s.resigned == nil || id != s.resigned.ID {
		return out
	}
	if s.resigned.Has(from) {
		s.dropped.Add(from.Node)
	}
	if s.resigned.Set.Subset(s.dropped) {
		s.resigned = nil
		s.wait, s.carried = 0, 0
		if s.proposal != nil {
			s.waitForOldLeases(s.proposal)
		}
		out = append(out, Effect{Kind: AllDropped})
	}
	return out
}
