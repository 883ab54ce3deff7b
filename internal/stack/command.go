package stack

import (
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Resign gives up the lead in favour of the next contender. The node stays, and is not a
// contender until another node leads or could have taken over.
func (s *Stack) Resign(now timed.Instant, out []Effect) []Effect {
	s.begin(now, out)
	return s.giveUp(now, s.election.StepDown(now, s.electionOut[:0]))
}

// HandOver gives up the lead as Resign does, in favour of a peer.
func (s *Stack) HandOver(now timed.Instant, to timed.NodeID, out []Effect) []Effect {
	s.begin(now, out)
	return s.giveUp(now, s.election.HandOver(now, to, s.electionOut[:0]))
}

// Leave gives up the lead for good and tells all peers that the node leaves. The node
// keeps answering until [Stack.Left].
func (s *Stack) Leave(now timed.Instant, out []Effect) []Effect { return s.depart(now, false, out) }

// LeaveForGood is Leave for a node that will not come back: the peers forget it.
func (s *Stack) LeaveForGood(now timed.Instant, out []Effect) []Effect {
	return s.depart(now, true, out)
}

func (s *Stack) depart(now timed.Instant, forGood bool, out []Effect) []Effect {
	s.begin(now, out)
	s.leaving, s.forGood = true, forGood
	return s.giveUp(now, s.election.Resign(now, s.electionOut[:0]))
}

// giveUp ends a call that gives up the lead. All peers learn at once that this node is not a
// contender.
func (s *Stack) giveUp(now timed.Instant, effects []leader.Effect) []Effect {
	s.electionOut = effects
	s.performElection(now, effects)
	s.outbox.keepalives = s.datagrams.Peers()
	return s.end(now)
}

// Left reports whether the node has handed over and may stop: nothing of it binds others.
func (s *Stack) Left(now timed.Instant) bool {
	return s.leaving && !s.election.Releasing() && !s.election.Leads(now)
}

// Distrust ends at once everything that rests on the local clock, because the caller has
// evidence against the clock. The incarnation must end: Distrust begins nothing new,
// whatever is due. Its packets tell the peers that the node does not lead. They free no
// votes, because only the distrusted clock could say when that is safe. One effect has the
// messages that the broadcast has acknowledged and not delivered.
func (s *Stack) Distrust(now timed.Instant, out []Effect) []Effect {
	s.begin(now, out)
	s.electionOut = s.election.Abdicate(now, leader.Distrusted, s.electionOut[:0])
	s.performElection(now, s.electionOut)
	s.viewsOut = s.views.Distrust(now, s.viewsOut[:0])
	s.performViews()
	if s.broadcast != nil { // it owes the application what it has acknowledged
		n := len(s.broadcastOut)
		s.broadcastOut = s.broadcast.HandleEnd(now, s.broadcastOut)
		s.performBroadcast(now, n, len(s.broadcastOut))
	}
	s.observe(now, s.datagrams.Alive(now))
	s.flush(now, true)
	for i := range s.out {
		if p := s.out[i].Packet; p != nil {
			p.Frames &^= wire.FrameRelease
		}
	}
	return s.result()
}

// SendKeepalive sends a packet to a peer although none is due. The driver adds frames to
// it that are not the stack's: introductions.
func (s *Stack) SendKeepalive(now timed.Instant, to timed.NodeID, out []Effect) []Effect {
	s.begin(now, out)
	s.outbox.keepalives.Add(to)
	return s.end(now)
}

// Verify asks a peer whether it leads. An answer, also to an earlier question, is an event
// EventVerified.
func (s *Stack) Verify(now timed.Instant, peer timed.NodeID, out []Effect) []Effect {
	s.begin(now, out)
	s.outbox.peer, s.outbox.toOne = peer, wire.FrameQuestion
	s.outbox.question = leader.Question{Asked: now}
	return s.end(now)
}

// Vouch answers the node's own question whether it leads, and keeps the votes for that
// answer as for those to others.
func (s *Stack) Vouch(now timed.Instant) leader.Assurance { return s.election.Vouch(now) }
