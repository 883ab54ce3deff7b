package stack

import (
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// perform does what the election wants.
func (s *Stack) perform(now timed.Instant, effects []leader.Effect) {
	for i := range effects {
		e := &effects[i]
		switch e.Kind {
		case leader.SendRequest:
			s.box.request, s.box.all = e.Request, s.box.all|wire.FrameRequest
			if e.Request.Tree.Fanout > 0 {
				s.box.all |= wire.FrameTree
			}
		case leader.SendRelease:
			s.box.release, s.box.all = e.Number, s.box.all|wire.FrameRelease
			if e.Peer != timed.NoNode {
				s.box.successor, s.box.all = e.Peer, s.box.all|wire.FrameSuccessor
			}
		case leader.SendReply:
			s.reply(e)
		case leader.SendAnswer:
			s.box.to, s.box.uni, s.box.answer = e.Peer, s.box.uni|wire.FrameAnswer, e.Answer
		case leader.Won:
			s.won(now)
			s.wonEpoch(now, e)
		case leader.GaveUp:
			s.gaveUp(now, e)
		case leader.Unfit:
			s.notify(Event{Kind: EventUnfit})
		case leader.GlobalLost:
			s.lostGlobally(e)
		case leader.OtherQuorum:
			s.notify(Event{Kind: EventOtherQuorum, Peer: e.Peer, Boot: s.dg.Boot(e.Peer), Quorum: e.Quorum})
		case leader.Verified:
			a := e.Assurance
			s.notify(Event{Kind: EventVerified, Peer: e.Peer, Boot: a.By.Boot, Assurance: &a})
		}
	}
}

// reply puts the reply to a request into the outbox.
func (s *Stack) reply(e *leader.Effect) {
	b := &s.box
	b.to, b.uni, b.reply = e.Peer, b.uni|wire.FrameReply, e.Reply
	if e.Reply.Support && e.Reply.Stamp != (leader.VoteStamp{}) {
		b.uni |= wire.FrameStamp
		s.voteWithState()
	}
	if e.Reply.OtherQuorum {
		b.uni |= wire.FrameQuorum
	}
}

func (s *Stack) won(now timed.Instant) {
	s.ckOut = s.ck.HandleLead(now, s.ckOut[:0])
	s.performClock()
	s.mbOut = s.mb.HandleWon(now, s.el.Support(), s.el.Refusals(), s.dg.Alive(now), s.dg.Boot, s, s.mbOut[:0])
	s.performViews()
}

func (s *Stack) gaveUp(now timed.Instant, e *leader.Effect) {
	why := membership.LeadEnded
	if e.Reason == leader.LeaseExpired {
		why = membership.LeaseExpired
	}
	s.mbOut = s.mb.HandleGaveUp(now, why, e.Peer, s.mbOut[:0])
	s.performViews()
	if s.leading {
		s.leading = false
		s.notify(Event{Kind: EventLeadLost, Lost: e.Reason, Peer: e.Peer})
	}
}
