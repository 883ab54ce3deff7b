package stack

import (
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// handleQuorum takes the quorum system of a peer's votes. A peer that asks for votes
// and names no quorum system has none.
func (s *Stack) handleQuorum(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	var id leader.QuorumID
	switch {
	case p.Has(wire.FrameQuorum):
		id = p.Quorum
	case !s.quorate() || !p.Has(wire.FrameRequest):
		return
	}
	s.elOut = s.el.HandleQuorum(now, from.Node, id, s.elOut[:0])
	s.perform(now, s.elOut)
}

// toOne writes what goes to one and is rare, or only where there is a quorum
// system.
func (b *outbox) toOne(p *wire.Packet) {
	if b.uni&wire.FrameSamples != 0 {
		p.Samples = b.samples
	}
	if b.uni&wire.FrameStamp != 0 {
		p.Stamp = b.reply.Stamp
	}
	if b.uni&wire.FrameEpoch != 0 {
		p.Epoch = b.epoch
	}
	if b.uni&(wire.FrameQuestion|wire.FrameAnswer) != 0 {
		p.Question, p.Answer = b.question, b.answer
	}
}

// noteRelease notes that a peer frees votes, and in whose favour.
func (s *Stack) noteRelease(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	successor := timed.NoNode
	if p.Has(wire.FrameSuccessor) {
		successor = p.Successor
	}
	s.el.NoteRelease(now, from, p.Release, successor)
}

// handleQuestion answers whether this node leads.
func (s *Stack) handleQuestion(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	s.elOut = s.el.HandleQuestion(now, from, p.Question, s.elOut[:0])
	s.perform(now, s.elOut)
}

func (s *Stack) handleAnswer(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	s.elOut = s.el.HandleAnswer(now, from, p.Answer, s.elOut[:0])
	s.perform(now, s.elOut)
}

// Verify asks a peer whether it leads. The answer, if one comes, is an event
// EventVerified; so are those to earlier questions.
func (s *Stack) Verify(now timed.Instant, peer timed.NodeID, out []Effect) []Effect {
	s.begin(now, out)
	s.box.to, s.box.uni = peer, wire.FrameQuestion
	s.box.question = leader.Question{Asked: now}
	return s.end(now)
}

// Vouch answers the node's own question whether it leads: its votes are kept for
// that answer as for those to others.
func (s *Stack) Vouch(now timed.Instant) leader.Assurance {
	return s.el.Vouch(now)
}

// HandOver gives up the lead as Resign does, in favour of a peer.
func (s *Stack) HandOver(now timed.Instant, to timed.NodeID, out []Effect) []Effect {
	s.begin(now, out)
	s.elOut = s.el.HandOver(now, to, s.elOut[:0])
	s.perform(now, s.elOut)
	s.box.beat = s.dg.Peers() // all learn at once that this node is no contender
	return s.end(now)
}

// observeGlobal reports that the node has begun to lead globally.
func (s *Stack) observeGlobal(now timed.Instant) {
	if leads := s.el.LeadsGlobally(now); leads && !s.global {
		s.global = true
		s.notify(Event{Kind: EventGlobalElected, Peer: s.cfg.Self.Node, Support: s.el.Support()})
	}
}

func (s *Stack) lostGlobally(e *leader.Effect) {
	if s.global {
		s.global = false
		s.notify(Event{Kind: EventGlobalLost, Lost: e.Reason, Peer: e.Peer})
	}
}

// LeadsGlobally reports whether the node leads globally at now.
func (s *Stack) LeadsGlobally(now timed.Instant) bool { return s.el.LeadsGlobally(now) }

// GlobalLeader returns who leads globally at now as far as this node knows: it
// itself, the node that it is locked to, or one that it hears; NoNode if it knows
// of none. Of others it is what they said last, which [Stack.Verify] makes sure of.
func (s *Stack) GlobalLeader(now timed.Instant) timed.NodeID {
	if s.el.LeadsGlobally(now) {
		return s.cfg.Self.Node
	}
	alive := s.alive
	if to, _ := s.el.Locked(now); to.Valid() && to != s.cfg.Self && s.el.Peer(to.Node).Global {
		return to.Node
	}
	for id := alive.Next(0); id != 0; id = alive.Next(id) {
		if s.el.Peer(id).Global {
			return id
		}
	}
	return timed.NoNode
}
