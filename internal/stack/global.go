package stack

import (
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// noteQuorum takes what a peer's votes are for. Who asks for votes and names no
// quorum system has none.
func (s *Stack) noteQuorum(from timed.Incarnation, p *wire.Packet) {
	var id leader.QuorumID
	switch {
	case p.Has(wire.FrameQuorum):
		id = p.Quorum
	case !s.quorate() || !p.Has(wire.FrameRequest):
		return
	}
	if s.el.HandleQuorum(from.Node, id) {
		s.notify(Event{Kind: EventOtherQuorum, Peer: from.Node, Boot: from.Boot, Quorum: id})
	}
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

// handleRelease takes a peer's votes back, and who it gives them up for.
func (s *Stack) handleRelease(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	if s.el.HandleRelease(now, from, p.Release) && p.Has(wire.FrameSuccessor) {
		s.el.HandleSuccessor(now, p.Successor)
	}
}

// handleQuestion answers whether this node leads.
func (s *Stack) handleQuestion(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	s.box.to, s.box.uni = from.Node, s.box.uni|wire.FrameAnswer
	s.box.answer = s.el.HandleQuestion(now, from.Boot, p.Question)
}

func (s *Stack) handleAnswer(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	if a, ok := s.el.HandleAnswer(now, from, p.Answer); ok {
		s.notify(Event{Kind: EventVerified, Peer: from.Node, Boot: from.Boot, Assurance: &a})
	}
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
	a := s.el.HandleQuestion(now, s.cfg.Self.Boot, leader.Question{Asked: now})
	v, _ := s.el.HandleAnswer(now, s.cfg.Self, a)
	return v
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
		s.notify(Event{Kind: EventGlobalLost, Lost: e.Reason, Peer: e.By})
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
