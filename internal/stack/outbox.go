package stack

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// outbox gathers what one turn wants to say: to all, and to one.
type outbox struct {
	all     Frames
	release timed.Instant
	resign  membership.ViewID
	request leader.Request

	to      timed.NodeID
	uni     Frames
	dropped membership.ViewID
	reply   leader.Reply
	report  membership.Report

	beat timed.Set // to whom a bare packet is to go
}

// flush turns the outbox into packets, one for each destination.
func (s *Stack) flush(now timed.Instant) {
	b := &s.box
	if s.leaving {
		b.all |= FrameLeaving
	}
	to := b.beat
	if b.all&^FrameLeaving != 0 {
		to = s.dg.Peers()
	} else if b.uni != 0 {
		to.Add(b.to)
	}
	// Who sends anyway sends the keepalives of this period along: peers then
	// wake up once for the packets of all, instead of once for each.
	if peers := s.dg.Peers(); to != peers {
		to = to.Union(s.dg.Due(now, !to.Empty()))
	}
	if to.Empty() && b.all&FrameRequest == 0 {
		return // a request renews the own view even where there is nobody to ask
	}
	proto := &s.proto
	proto.MaxDrift, proto.FastThreshold = s.cfg.Timing.MaxDrift, s.cfg.Timing.FastThreshold
	proto.State, proto.Frames = s.el.State(now), b.all
	proto.Release, proto.Resign, proto.Request = b.release, b.resign, b.request
	proto.Header = datagram.Header{Version: datagram.Version, Group: s.cfg.Group,
		Source: s.cfg.Self.Node, Boot: s.cfg.Self.Boot, Stamp: now}
	if b.all&FrameRequest != 0 {
		s.fillRequest(now, proto)
	}
	if s.br != nil {
		s.fillBroadcast(now, proto)
	}
	for id := to.Next(0); id != 0; id = to.Next(id) {
		p := s.blank()
		p.CopyFrom(proto)
		p.Header.Destination = id
		p.Header.Echo = s.dg.Echo(id, now)
		if id == b.to && b.uni != 0 {
			p.Frames |= b.uni
			p.Dropped, p.Reply, p.Report = b.dropped, b.reply, b.report
		}
		s.dg.Sent(id, now)
		s.out = append(s.out, Effect{Kind: Send, To: id, Packet: p})
	}
}

// blank returns a packet to be written: one that the driver lends, or one of the
// stack's own, which is valid until the next turn.
func (s *Stack) blank() *Packet {
	if s.Lend != nil {
		return s.Lend()
	}
	if k := len(s.packets); k < cap(s.packets) {
		s.packets = s.packets[:k+1]
		return &s.packets[k]
	}
	return s.more.take()
}

// fillRequest adds what the layers above the election say in a request.
func (s *Stack) fillRequest(now timed.Instant, p *Packet) {
	leads := s.el.Leads(now)
	var until timed.Instant
	p.Part, until, s.mbOut = s.mb.Part(now, leads, s, s.mbOut[:0])
	s.performViews()
	if until > 0 {
		s.el.Granted(until)
	}
	if !leads {
		return
	}
	lease, _ := s.el.Leading()
	if line, ok := s.ck.Announce(lease); ok {
		p.Line, p.Frames = line, p.Frames|FrameLine
	}
}

// refuse answers a packet whose incarnation claims a seat that another one
// holds, at most twice a keepalive period: a keepalive that comes a little early
// must not go unanswered, or refusals are further apart than they count.
func (s *Stack) refuse(now timed.Instant, p *Packet) {
	id := p.Header.Source
	holder := s.dg.Holder(id, now)
	if holder == 0 || holder == p.Header.Boot || p.Has(FrameInUse) ||
		now.Sub(s.answered[id]) < s.cfg.Timing.KeepalivePeriod/2 {
		return
	}
	s.answered[id] = now
	a := s.blank()
	a.MaxDrift, a.FastThreshold = s.cfg.Timing.MaxDrift, s.cfg.Timing.FastThreshold
	a.State, a.Frames, a.InUse = s.el.State(now), FrameInUse, holder
	a.Header = datagram.Header{Version: datagram.Version, Group: s.cfg.Group, Source: s.cfg.Self.Node,
		Destination: id, Boot: s.cfg.Self.Boot, Stamp: now, Echo: s.dg.EchoChallenger(id)}
	s.out = append(s.out, Effect{Kind: Answer, To: id, Packet: a})
}
