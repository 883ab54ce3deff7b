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

// outbox gathers what one turn wants to say: to all, and to one.
type outbox struct {
	all     wire.Frames
	release timed.Instant
	resign  membership.ViewID
	request leader.Request
	part    membership.Part
	line    clocksync.Line
	utc     clocksync.UTC
	cast    *broadcast.Packet

	successor timed.NodeID

	to      timed.NodeID
	uni     wire.Frames
	dropped membership.ViewID
	reply   leader.Reply
	report  membership.Report
	samples clocksync.Forwarded

	question leader.Question
	answer   leader.Answer

	beat timed.Set // to whom a bare packet is to go

	epoch *epoch.State // with uni
	told  timed.Set    // to whom it goes in a packet of its own
}

// flush turns the outbox into packets, one for each destination.
func (s *Stack) flush(now timed.Instant) {
	b := &s.box
	if s.leaving {
		b.all |= wire.FrameLeaving
	}
	to := b.beat
	if b.all&^wire.FrameLeaving != 0 {
		to = s.dg.Peers()
	} else if b.uni != 0 {
		to.Add(b.to)
	}
	for i := range s.relay.outs[:s.relay.used] {
		if id := s.relay.outs[i].to; s.dg.Peers().Has(id) {
			to.Add(id)
		}
	}
	// Who sends anyway sends the keepalives of this period along: peers then
	// wake up once for the packets of all, instead of once for each. Where there
	// is nobody, their time must pass all the same, or they are due for ever.
	if peers := s.dg.Peers(); to != peers || peers.Empty() {
		to = to.Union(s.dg.KeepalivesDue(now, !to.Empty()))
	}
	if to.Empty() && b.all&wire.FrameRequest == 0 {
		return // a request renews the own view even where there is nobody to ask
	}
	if b.all&wire.FrameRequest != 0 {
		s.fillRequest(now)
		if s.quorate() {
			b.all |= wire.FrameQuorum
		}
	}
	if s.br != nil {
		s.fillBroadcast(now)
	}
	for id := to.Next(0); id != 0; id = to.Next(id) {
		p := s.address(id, now)
		s.dg.FillEcho(now, &p.Header)
		if p.Frames = b.all; p.Frames != 0 {
			b.toAll(p)
		}
		if id == b.to && b.uni != 0 {
			p.Frames |= b.uni
			p.Dropped, p.Reply, p.Report = b.dropped, b.reply, b.report
			b.toOne(p)
		}
		if p.Has(wire.FrameQuorum) {
			p.Quorum = s.el.QuorumID()
		}
		if id == s.relay.boss {
			s.relay.said = p.State
		}
		if p.Frames&^wire.FrameBroadcast == 0 {
			s.takeAlong(p)
		}
		s.dg.NoteSent(now, id)
		s.out = append(s.out, Effect{Kind: Send, To: id, Packet: p})
	}
	s.sendParcels(now)
}

// address returns a packet to be written for a peer, with what is in every
// packet. Fields are written one by one: a struct that is put together elsewhere
// and copied at once costs several times as much, because the processor has to
// wait until what was just written in parts can be read as a whole.
func (s *Stack) address(id timed.NodeID, now timed.Instant) *wire.Packet {
	p := s.blank()
	h := &p.Header
	h.Version, h.Suite, h.KeyID, h.Group = wire.Version, 0, 0, s.cfg.Group
	h.Source, h.Destination, h.Boot = s.cfg.Self.Node, id, s.cfg.Self.Boot
	h.Counter, h.Stamp = 0, now
	p.MaxDrift, p.FastThreshold = s.cfg.Timing.MaxDrift, s.cfg.Timing.FastThreshold
	s.el.FillState(now, &p.State)
	return p
}

// toAll writes what goes to all. Frames that the packet does not carry keep
// what they held, so that a bare packet costs what it weighs.
func (b *outbox) toAll(p *wire.Packet) {
	if b.all&wire.FrameRequest != 0 {
		p.Request, p.Part = b.request, b.part
	}
	if b.all&wire.FrameLine != 0 {
		p.Line = b.line
	}
	if b.all&wire.FrameUTC != 0 {
		p.UTC = b.utc
	}
	if b.all&wire.FrameBroadcast != 0 {
		p.Broadcast = b.cast
	}
	p.Release, p.Resign, p.Successor = b.release, b.resign, b.successor
}

// blank returns a packet to be written: one that the driver lends, or one of the
// stack's own, which is valid until the next turn.
func (s *Stack) blank() *wire.Packet {
	if s.Lend != nil {
		return s.Lend()
	}
	return s.more.take()
}

// fillRequest adds what the layers above the election say in a request.
func (s *Stack) fillRequest(now timed.Instant) {
	b := &s.box
	leads := s.el.Leads(now)
	b.part = membership.Part{}
	s.mbOut = s.mb.Announce(now, leads, s, s.mbOut[:0])
	s.performViews()
	if !leads {
		return
	}
	s.steer(now)
	lease, _ := s.el.Leading()
	s.ckOut = s.ck.Announce(now, lease, s.ckOut[:0])
	s.performClock()
}

// refuse answers a packet whose incarnation claims a seat that another one
// holds, at most twice a keepalive period: a keepalive that comes a little early
// must not go unanswered, or refusals are further apart than they count.
func (s *Stack) refuse(now timed.Instant, p *wire.Packet) {
	id := p.Header.Source
	holder := s.dg.Incumbent(now, id)
	if holder == 0 || holder == p.Header.Boot || p.Has(wire.FrameInUse) ||
		now.Sub(s.answered[id]) < s.cfg.Timing.KeepalivePeriod/2 {
		return
	}
	s.answered[id] = now
	a := s.address(id, now)
	s.dg.FillChallengerEcho(&a.Header)
	a.Frames, a.InUse = wire.FrameInUse, holder
	s.out = append(s.out, Effect{Kind: Answer, To: id, Packet: a})
}
