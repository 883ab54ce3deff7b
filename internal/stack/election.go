package stack

import (
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// performElection performs effects of the election.
func (s *Stack) performElection(now timed.Instant, effects []leader.Effect) {
	b := &s.outbox
	for i := range effects {
		e := &effects[i]
		switch e.Kind {
		case leader.SendRequest:
			b.request, b.toAll = e.Request, b.toAll|wire.FrameRequest
			if e.Request.Tree.Fanout > 0 {
				b.toAll |= wire.FrameTree
			}
		case leader.SendRelease:
			b.release, b.toAll = e.Number, b.toAll|wire.FrameRelease
			if e.Peer != timed.NoNode {
				b.successor, b.toAll = e.Peer, b.toAll|wire.FrameSuccessor
			}
		case leader.SendReply:
			s.sendReply(e)
		case leader.SendAnswer:
			b.peer, b.toOne, b.answer = e.Peer, b.toOne|wire.FrameAnswer, e.Answer
		case leader.Counted:
			// The handler of the reply has taken its report already.
		case leader.Won:
			s.won(now)
			s.wonEpoch(now, e)
		case leader.GaveUp:
			s.gaveUp(now, e)
		case leader.Unfit:
			s.notify(Event{Kind: EventUnfit})
		case leader.GlobalLost:
			if s.global {
				s.global = false
				s.notify(Event{Kind: EventGlobalLost, Lost: e.Reason, Peer: e.Peer})
			}
		case leader.OtherQuorum:
			s.notify(Event{Kind: EventOtherQuorum, Peer: e.Peer, Boot: s.datagrams.Boot(e.Peer), Quorum: e.Quorum})
		case leader.Verified:
			a := e.Assurance
			s.notify(Event{Kind: EventVerified, Peer: e.Peer, Boot: a.By.Boot, Assurance: &a})
		}
	}
}

// sendReply puts the reply to a request into the outbox.
func (s *Stack) sendReply(e *leader.Effect) {
	b := &s.outbox
	b.peer, b.toOne, b.reply = e.Peer, b.toOne|wire.FrameReply, e.Reply
	if e.Reply.Support && e.Reply.Stamp != (leader.VoteStamp{}) {
		b.toOne |= wire.FrameStamp
		s.voteWithState()
	}
	if e.Reply.OtherQuorum {
		b.toOne |= wire.FrameQuorum
	}
}

// won takes a round that this node has won.
func (s *Stack) won(now timed.Instant) {
	s.clockOut = s.clock.HandleLead(now, s.clockOut[:0])
	s.performClock()
	heard := s.datagrams.Alive(now)
	if s.election.DoubtsSilence(now) {
		heard = s.datagrams.Peers()
	}
	s.viewsOut = s.views.HandleWon(now, s.election.Support(), s.election.Refusals(), heard, s.datagrams.Boot, s, s.viewsOut[:0])
	s.performViews()
}

// gaveUp takes the end of this node's lead.
func (s *Stack) gaveUp(now timed.Instant, e *leader.Effect) {
	why := membership.LeadEnded
	if e.Reason == leader.LeaseExpired {
		why = membership.LeaseExpired
	}
	s.viewsOut = s.views.HandleGaveUp(now, why, e.Peer, s.viewsOut[:0])
	s.performViews()
	if e.Reason == leader.Resigned && s.outbox.toAll&wire.FrameResign != 0 {
		s.handVotes(now)
	}
	if s.leading {
		s.leading = false
		s.notify(Event{Kind: EventLeadLost, Lost: e.Reason, Peer: e.Peer})
	}
}

// handVotes names, in the packet that gives up the view, the member that may take over the
// votes at once. Older builds ignore a successor without a release.
func (s *Stack) handVotes(now timed.Instant) {
	if to, ok := s.views.Resigned().Member(s.election.Successor(now)); ok {
		s.outbox.successor, s.outbox.toAll = to.Node, s.outbox.toAll|wire.FrameSuccessor
		s.election.HandVote(to.Incarnation)
	}
}

// handleHandOver takes such a packet. Only a member of the view may take over: the leases
// on the view rest on its vote, so it knows when they end.
func (s *Stack) handleHandOver(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	v := s.views.View()
	if v == nil || v.ID != p.Resign || v.ID.Leader != from.Node || v.ID.Boot != from.Boot {
		return
	}
	if to, ok := v.Member(p.Successor); ok {
		s.election.NoteHandOver(now, from, p.Header.Stamp, to.Incarnation)
		if s.election.Handed() == s.cfg.Self {
			s.views.NoteInherited(s.election.InheritedUntil())
		}
	}
}

// handleQuorum takes the quorum system of a peer's votes. A peer that asks for votes and
// names no quorum system has none.
func (s *Stack) handleQuorum(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	var id leader.QuorumID
	switch {
	case p.Has(wire.FrameQuorum):
		id = p.Quorum
	case !s.quorate() || !p.Has(wire.FrameRequest):
		return
	}
	s.electionOut = s.election.HandleQuorum(now, from.Node, id, s.electionOut[:0])
	s.performElection(now, s.electionOut)
	if m := s.epochs.machine; m != nil && p.Has(wire.FrameQuorum) {
		s.performEpochs(now, m.HandleEpoch(now, from.Node, id.Epoch, s.epochs.out[:0]))
	}
}

// handleQuestion takes a peer's question whether this node leads.
func (s *Stack) handleQuestion(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	s.electionOut = s.election.HandleQuestion(now, from, p.Question, s.electionOut[:0])
	s.performElection(now, s.electionOut)
}

// handleAnswer takes a peer's answer to such a question.
func (s *Stack) handleAnswer(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	s.electionOut = s.election.HandleAnswer(now, from, p.Answer, s.electionOut[:0])
	s.performElection(now, s.electionOut)
}
