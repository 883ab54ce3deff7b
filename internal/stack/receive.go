package stack

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// HandlePacket takes a packet that was received when the local clock showed received; now
// is the reading of this turn. It then does what has become due.
func (s *Stack) HandlePacket(now, received timed.Instant, p *wire.Packet, out []Effect) []Effect {
	s.begin(now, out)
	s.take(now, received, p)
	return s.end(now)
}

// HandleBatched takes a packet as HandlePacket does, and leaves what has become due to the
// end of the batch: to HandlePacket, for its last packet, or to HandleTimeout, which is due
// at once. After a stall, several packets wait. A timer that fired between two of them
// would begin another round just before the votes for the present one are counted, and
// would take peers for silent whose packets are there. A keepalive that left between them
// would say that a peer was heard long ago whose packet is next.
func (s *Stack) HandleBatched(now, received timed.Instant, p *wire.Packet, out []Effect) []Effect {
	s.begin(now, out)
	s.take(now, received, p)
	s.flush(now, false)
	s.sendEpoch(now)
	s.due = now
	return s.result()
}

// take handles a packet.
func (s *Stack) take(now, received timed.Instant, p *wire.Packet) {
	s.lastPacket = s.lastPacket[:0]
	if !p.Header.Quiet { // a quiet packet wakes nobody
		s.noteLateness(now, received)
	}
	if !s.forThisNode(p) {
		return
	}
	if s.epochal.Remove(p.Header.Source); p.Header.Group == s.cfg.Group {
		s.epochal.Add(p.Header.Source)
	}
	s.lastPacket = s.datagrams.HandlePacket(received, &p.Header, s.lastPacket)
	e := &s.lastPacket[0]
	from, d := e.From, e.Delay
	s.versions.note(received, &p.Header, e.Kind == datagram.Delivered || e.Kind == datagram.Accepted)
	switch e.Kind {
	case datagram.Dropped:
		s.Dropped.Unknown++
	case datagram.Challenged:
		s.Dropped.Unaccepted++
		if len(s.lastPacket) > 1 {
			s.notify(Event{Kind: EventRival, Peer: from.Node, Boot: from.Boot})
		}
		s.refuse(now, p)
	case datagram.Faulty:
		s.Dropped.Faulty++
		s.suspectClocks(now, from, d)
	case datagram.Twin:
		s.Dropped.Faulty++
		s.notify(Event{Kind: EventTwins, Peer: from.Node, Boot: from.Boot})
	case datagram.Accepted:
		if s.election.Peer(from.Node) != (leader.State{}) {
			s.notify(Event{Kind: EventPeerRestarted, Peer: from.Node, Boot: from.Boot})
		}
		s.election.Forget(from.Node)
		s.handle(now, received, from, p, d)
	case datagram.Delivered:
		s.handle(now, received, from, p, d)
	}
}

// forThisNode reports whether a packet is for this node and its settings agree. It counts
// and reports packets that do not.
func (s *Stack) forThisNode(p *wire.Packet) bool {
	h := &p.Header
	if !s.cfg.Hears(h.Group) || h.Destination != s.cfg.Self.Node {
		s.Dropped.Foreign++
		return false
	}
	if !p.SameModel(&s.cfg.Timing) {
		s.Dropped.Mismatch++
		s.notify(Event{Kind: EventMismatch, Peer: h.Source, Group: s.cfg.Group, MaxDrift: p.MaxDrift, FastThreshold: p.FastThreshold})
		return false
	}
	if s.fromTheFuture(p) {
		s.Dropped.Impossible++
		return false
	}
	if p.Has(wire.FrameInUse) && h.Echo.Boot != s.cfg.Self.Boot {
		s.Dropped.Unknown++ // an answer to another incarnation of this id says nothing about this one
		return false
	}
	return true
}

// fromTheFuture reports whether a packet names an instant of its sender's clock that comes
// long after the packet's own. Such a packet is damaged or forged: a node that took its
// request would ignore all later ones as older. Numbers of requests are a little ahead of
// the clock if several are made at one instant.
func (s *Stack) fromTheFuture(p *wire.Packet) bool {
	sent := p.Header.Stamp.Add(s.cfg.Timing.KeepalivePeriod)
	return p.Has(wire.FrameRequest) && p.Request.Number > sent || p.Has(wire.FrameRelease) && p.Release > sent ||
		p.Has(wire.FrameQuestion) && p.Question.Asked > sent
}

// handle takes a packet of a peer's accepted incarnation.
func (s *Stack) handle(now, received timed.Instant, from timed.Incarnation, p *wire.Packet, d datagram.Delay) {
	if p.Header.Echo.Boot == s.cfg.Self.Boot {
		if p.Has(wire.FrameInUse) {
			s.datagrams.NoteRefusal(received, from.Node, datagram.Refusal{Rival: p.InUse, Echoed: p.Header.Echo.Latest, Age: p.InUseAge})
			return
		}
		s.datagrams.NoteAcceptance(now, from.Node)
	}
	if p.Header.Stamp >= s.datagrams.Newest(from.Node) { // otherwise a later packet has overtaken it
		s.election.NoteState(now, from, &p.State)
	}
	s.datagrams.NotePeriod(from.Node, p.KeepalivePeriod)
	alive := s.datagrams.Alive(now)
	s.election.SetAlive(now, alive)
	s.handleLead(now, from, p)
	if s.broadcast != nil && p.Has(wire.FrameBroadcast) {
		s.handleBroadcast(now, from, p)
	}
	if p.Has(wire.FrameQuorum | wire.FrameRequest) {
		s.handleQuorum(now, from, p)
	}
	if p.Has(wire.FrameEpoch) && s.epochs.machine != nil {
		s.performEpochs(now, s.epochs.machine.HandleReport(now, from, p.Epoch, s.epochs.out[:0]))
	}
	if p.Has(wire.FrameRequest) {
		s.handleRequest(now, received, from, p, d, alive)
	}
	if p.Has(wire.FrameUTC) && (p.Has(wire.FrameReply) || !p.Has(wire.FrameLine)) {
		s.handleTold(now, from.Node, &p.UTC) // before the round that the reply wins
	}
	if p.Has(wire.FrameReply) {
		s.handleReply(now, received, from, p, d)
	} else if p.Has(wire.FrameSamples) {
		s.handleSamples(now, from.Node, &p.Samples)
	}
	if p.Has(wire.FrameQuestion) {
		s.handleQuestion(now, from, p)
	}
	if p.Has(wire.FrameAnswer) {
		s.handleAnswer(now, from, p)
	}
	if p.Has(wire.FrameCollated) {
		s.handleCollated(now, received, p, d)
	}
}

// handleLead takes the frames in which a peer gives up a lead, its votes or its view.
func (s *Stack) handleLead(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	if p.Has(wire.FrameLeaving) {
		s.notify(Event{Kind: EventPeerLeaving, Peer: from.Node, Boot: from.Boot, ForGood: p.Forget})
	}
	if p.Has(wire.FrameRelease) {
		successor := timed.NoNode
		if p.Has(wire.FrameSuccessor) {
			successor = p.Successor
		}
		s.election.NoteRelease(now, from, p.Release, successor)
	}
	if p.Has(wire.FrameResign) {
		if p.Has(wire.FrameSuccessor) && !p.Has(wire.FrameRelease) {
			s.handleHandOver(now, from, p)
		}
		s.viewsOut = s.views.HandleResign(now, from, p.Resign, s.viewsOut[:0])
		s.performViews()
	}
	if p.Has(wire.FrameDropped) {
		s.viewsOut = s.views.HandleDropped(now, from, p.Dropped, s.viewsOut[:0])
		s.performViews()
	}
}

// handleRequest takes a request for votes, with its view part and group time.
func (s *Stack) handleRequest(now, received timed.Instant, from timed.Incarnation, p *wire.Packet, d datagram.Delay, alive timed.Set) {
	started := s.datagrams.SentBefore(received, from.Node, p.Header.Stamp)
	s.electionOut = s.election.HandleRequest(now, from, p.Request, d.Fast, started, s.electionOut[:0])
	// A vote binds this node before the view part counts. An abdication comes before
	// the vote.
	s.performElection(now, s.electionOut)
	if s.outbox.toOne&wire.FrameReply == 0 {
		return
	}
	if p.Header.Patient {
		s.rest.asker = from.Node
	}
	if s.outbox.reply.Support {
		if s.partCounts(&p.Part) {
			s.viewsOut = s.views.HandlePart(now, from, &p.Part, p.Header.Stamp, received, d.Bound, s.viewsOut[:0])
			s.freezeBroadcast(now, p.Part.View)
			s.performViews()
			s.vouchFor(now, received, p, d)
		}
		if p.Has(wire.FrameLine) {
			s.handleLine(now, from.Node, p)
		}
		s.forward(now, from)
	}
	s.tellUTC(now, from.Node, p)
	if s.collate(now, received, from, p, alive) {
		// Only what is known of UTC, and the samples of references, go directly.
		s.outbox.toOne &^= wire.FrameReply | wire.FrameStamp
		return
	}
	s.views.FillReport(&s.outbox.report)
}

// handleReply takes a vote or a refusal, with its report about views.
func (s *Stack) handleReply(now, received timed.Instant, from timed.Incarnation, p *wire.Packet, d datagram.Delay) {
	p.Reply.Stamp = leader.VoteStamp{}
	if p.Has(wire.FrameStamp) {
		p.Reply.Stamp = p.Stamp
	}
	s.noteVote(from, &p.Reply, p)
	s.electionOut = s.election.HandleReply(now, from, p.Reply, d.Fast, s.electionOut[:0])
	if len(s.electionOut) == 0 { // the reply does not count
		s.views.NoteSequence(p.Report.Sequence)
		return
	}
	s.rest.latest = max(s.rest.latest, received.Sub(p.Reply.Number))
	// The report comes first: the round that this reply wins may commit on it.
	s.viewsOut = s.views.HandleReport(now, from, &p.Report, p.Reply.Support, s, s.viewsOut[:0])
	s.performViews()
	s.performElection(now, s.electionOut)
	if p.Has(wire.FrameSamples) {
		s.handleSamples(now, from.Node, &p.Samples)
	}
}

// refuse answers a packet whose incarnation is not accepted because another one of the
// same id is still heard. It answers at most twice a keepalive period, so that it also
// answers a keepalive that comes a little early, and once in Δ if that is more. Refusals that
// come more seldom would not add up, because each counts for a limited time: half of the
// Expires of the other node, whose keepalives may come more often than this node's.
func (s *Stack) refuse(now timed.Instant, p *wire.Packet) {
	id := p.Header.Source
	incumbent, age := s.datagrams.Incumbent(now, id)
	if incumbent == 0 || incumbent == p.Header.Boot || p.Has(wire.FrameInUse) ||
		now.Sub(s.refusedAt[id]) < min(s.cfg.Timing.KeepalivePeriod/2, s.cfg.Timing.FastThreshold) {
		return
	}
	s.refusedAt[id] = now
	a := s.address(now, id)
	a.Header.Version = min(s.versions.newest, wire.NewestOf(&p.Header)) // which need not be that of the incumbent
	s.datagrams.FillChallengerEcho(&a.Header)
	a.Frames, a.InUse, a.InUseAge = wire.FrameInUse|wire.FrameUsed, incumbent, age
	a.Used = s.datagrams.Peers().With(s.cfg.Self.Node)
	s.out = append(s.out, Effect{Kind: SendBack, Peer: id, Packet: a})
}

// LastPacket returns the verdict on the last packet, and its delay.
func (s *Stack) LastPacket() (datagram.Kind, datagram.Delay) {
	if len(s.lastPacket) == 0 {
		return datagram.Dropped, datagram.Delay{Bound: datagram.Unknown}
	}
	e := &s.lastPacket[0]
	return e.Kind, e.Delay
}
