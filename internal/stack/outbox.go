package stack

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// outbox gathers the messages of one turn: frames for all peers, and frames for one peer. A
// field counts only if its frame is in toAll or toOne.
type outbox struct {
	toAll     wire.Frames
	release   timed.Instant
	resign    membership.ViewID
	request   leader.Request
	part      membership.Part
	line      clocksync.Line
	utc       clocksync.UTC
	broadcast *broadcast.Packet
	successor timed.NodeID

	peer     timed.NodeID
	toOne    wire.Frames
	dropped  membership.ViewID
	reply    leader.Reply
	report   membership.Report
	samples  clocksync.Forwarded
	question leader.Question
	answer   leader.Answer
	epoch    *epoch.State

	keepalives timed.Set // peers that get a packet even without frames
	epochTo    timed.Set // peers that get the state of the epoch in a packet of its own
}

// begin empties the outbox.
func (b *outbox) begin() {
	b.toAll, b.toOne, b.peer, b.keepalives, b.epochTo = 0, 0, 0, timed.Set{}, timed.Set{}
}

// flush turns the outbox into packets, one for each destination. At the end of a turn, due
// keepalives leave as well.
func (s *Stack) flush(now timed.Instant, end bool) {
	b := &s.outbox
	if s.leaving {
		b.toAll |= wire.FrameLeaving
	}
	to := s.destinations(now, end)
	if to.Empty() && b.toAll&wire.FrameRequest == 0 {
		return // a request renews the node's own view even without peers
	}
	if b.toAll&wire.FrameRequest != 0 {
		s.fillRequest(now)
		if s.quorate() {
			b.toAll |= wire.FrameQuorum
		}
	}
	if s.broadcast != nil {
		s.fillBroadcast(now)
	}
	patient := s.patient(now)
	if patient {
		s.rest.gather = now.Add(s.cfg.Timing.FastThreshold)
	}
	for id := to.Next(0); id != 0; id = to.Next(id) {
		p := s.address(now, id)
		s.datagrams.FillEcho(now, &p.Header)
		if p.Frames = b.toAll; p.Frames != 0 {
			b.fillAll(p)
			if p.Header.Version < wire.WithAnswered {
				p.Part.Answered = 0
			}
		}
		if id == b.peer && b.toOne != 0 {
			p.Frames |= b.toOne
			b.fillOne(p)
		}
		if p.Has(wire.FrameLeaving) {
			p.Forget = s.forGood
		}
		if p.Has(wire.FrameQuorum) {
			p.Quorum = s.election.QuorumID()
		}
		if id == s.relay.requester {
			s.relay.lastState = p.State
		}
		if p.Frames&^wire.FrameBroadcast == 0 {
			s.piggyback(p)
		}
		s.rest.refresh(&p.State, s.alive)
		quiet := s.quiet(id, p)
		if p.Header.Version >= wire.WithQuiet {
			p.Header.Patient, p.Header.Quiet = patient, quiet
		}
		s.datagrams.NoteSent(now, id)
		s.out = append(s.out, Effect{Kind: Send, Peer: id, Packet: p})
	}
	s.sendRelayPackets(now)
}

// destinations returns the peers that get a packet in this turn.
func (s *Stack) destinations(now timed.Instant, end bool) timed.Set {
	b, peers := &s.outbox, s.datagrams.Peers()
	to := b.keepalives
	if b.toAll&^wire.FrameLeaving != 0 {
		to = peers
	} else if b.toOne != 0 {
		to.Add(b.peer)
	}
	for i := range s.relay.packets[:s.relay.used] {
		if id := s.relay.packets[i].to; peers.Has(id) {
			to.Add(id)
		}
	}
	if !end {
		return to
	}
	// Send due keepalives together with packets that leave anyway: peers then wake up
	// once for the packets of all nodes, and not once for each. Packets to all put off the
	// next keepalive as well, or a leader would wake up between its rounds for nothing.
	return to.Union(s.datagrams.KeepalivesDue(now, !to.Empty()))
}

// address returns a packet to be filled for a peer, with the fields of every packet.
// Fields are written one by one. Copying a struct just after it was written in parts costs
// several times as much, because the processor waits until the parts can be read as a
// whole.
func (s *Stack) address(now timed.Instant, id timed.NodeID) *wire.Packet {
	p := s.newPacket()
	h := &p.Header
	h.Version, h.Suite, h.KeyID, h.Group = s.versions.to(now, id), 0, 0, s.cfg.Says()
	if s.epochal.Has(id) {
		h.Group = s.cfg.Group
	}
	h.Source, h.Destination, h.Boot = s.cfg.Self.Node, id, s.cfg.Self.Boot
	h.Counter, h.Stamp = 0, now
	h.Quiet, h.Patient = false, false
	t := &s.cfg.Timing
	p.MaxDrift, p.FastThreshold, p.KeepalivePeriod = t.MaxDrift, t.FastThreshold, t.KeepalivePeriod
	s.election.FillState(now, &p.State)
	return p
}

// newPacket returns a packet to be filled: the driver's, or one of the stack's own, which is
// valid until the next turn.
func (s *Stack) newPacket() *wire.Packet {
	if s.NewPacket != nil {
		return s.NewPacket()
	}
	return s.packets.take()
}

// fillAll writes the frames for all peers. Fields of other frames keep their old content,
// so that a packet costs only what it carries.
func (b *outbox) fillAll(p *wire.Packet) {
	if b.toAll&wire.FrameRequest != 0 {
		p.Request, p.Part = b.request, b.part
	}
	if b.toAll&wire.FrameLine != 0 {
		p.Line = b.line
	}
	if b.toAll&wire.FrameUTC != 0 {
		p.UTC = b.utc
	}
	if b.toAll&wire.FrameBroadcast != 0 {
		p.Broadcast = b.broadcast
	}
	p.Release, p.Resign, p.Successor = b.release, b.resign, b.successor
}

// fillOne writes the frames for one peer.
func (b *outbox) fillOne(p *wire.Packet) {
	p.Dropped, p.Reply, p.Report = b.dropped, b.reply, b.report
	if b.toOne&wire.FrameUTC != 0 {
		p.UTC = b.utc
	}
	if b.toOne&wire.FrameSamples != 0 {
		p.Samples = b.samples
	}
	if b.toOne&wire.FrameStamp != 0 {
		p.Stamp = b.reply.Stamp
	}
	if b.toOne&wire.FrameEpoch != 0 {
		p.Epoch = b.epoch
	}
	if b.toOne&(wire.FrameQuestion|wire.FrameAnswer) != 0 {
		p.Question, p.Answer = b.question, b.answer
	}
}

// fillRequest adds the parts of the layers above the election to a request.
func (s *Stack) fillRequest(now timed.Instant) {
	leads := s.election.Leads(now)
	s.outbox.part = membership.Part{}
	s.viewsOut = s.views.Announce(now, leads, s, s.viewsOut[:0])
	s.performViews()
	if leads {
		s.announceClock(now)
	}
}
