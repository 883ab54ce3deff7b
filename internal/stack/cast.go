package stack

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Broadcast takes a payload, which it copies, to be delivered to the members of
// the view. What it costs beyond that is done by HandleTimeout, which is due at
// once: the messages of a turn share packets. The errors are those of package
// broadcast. It must only be called with a broadcast configured.
func (s *Stack) Broadcast(now timed.Instant, payload []byte, opt broadcast.Options) (broadcast.ID, error) {
	id, err := s.br.Broadcast(s.ck.Read(now), payload, opt)
	if err == nil && s.br.Pending() {
		s.due = timed.Earlier(s.due, now)
	}
	return id, err
}

// BroadcastSlab is Broadcast, with a payload of n bytes that stands in a slab: see
// [broadcast.Service.BroadcastSlab].
func (s *Stack) BroadcastSlab(now timed.Instant, b broadcast.Slab, off, n int, opt broadcast.Options) (broadcast.ID, error) {
	id, err := s.br.BroadcastSlab(s.ck.Read(now), b, off, n, opt)
	if err == nil && s.br.Pending() {
		s.due = timed.Earlier(s.due, now)
	}
	return id, err
}

// TakeSlab returns memory for the payloads of own messages: see
// [broadcast.Service.TakeSlab].
func (s *Stack) TakeSlab() (broadcast.Slab, []byte) { return s.br.TakeSlab() }

// CloseSlab says that no more messages will be handed over in a slab.
func (s *Stack) CloseSlab(b broadcast.Slab) { s.br.CloseSlab(b) }

// Consumed says that the application has taken count deliveries with payloads of
// n bytes in all.
func (s *Stack) Consumed(now timed.Instant, n, count int) {
	s.br.Consumed(n, count)
	if s.br.Pending() {
		s.due = timed.Earlier(s.due, now)
	}
}

// Borrow keeps the payload of a delivery of this turn until GiveBack: see
// [broadcast.Service.Borrow].
func (s *Stack) Borrow(d *broadcast.Delivery) broadcast.Loan { return s.br.Borrow(d) }

// GiveBack says that the payloads of n loans that are equal are of no more use.
func (s *Stack) GiveBack(l broadcast.Loan, n int) { s.br.GiveBack(l, n) }

// Cast returns the broadcast's state, to look at, or nil.
func (s *Stack) Cast() *broadcast.Service { return s.br }

// handleBroadcast takes what a peer says about broadcast. What follows from mere
// messages and decisions is done by HandleTimeout, which is due at once: a batch
// of packets then has one answer.
func (s *Stack) handleBroadcast(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	s.brOut = s.br.HandlePacket(now, from, p.Broadcast, s.brOut)
	s.later = p.Frames == wire.FrameBroadcast
}

// counts reports whether the view part of a request counts. A view is installed
// only with its terms, and with all messages that they demand; until then its
// announcement is as good as lost.
func (s *Stack) counts(p *membership.Part) bool {
	return s.br == nil || p.Kind != membership.Commit || s.reported().Installed == p.ID || s.br.CanInstall(p.ID)
}

// reported returns what this node says of its views.
func (s *Stack) reported() (r membership.Report) {
	s.mb.FillReport(&r)
	return r
}

// keepStill freezes the broadcast when a proposal has been acknowledged: p, or
// it was acknowledged before.
func (s *Stack) keepStill(now timed.Instant, p *membership.View) {
	if s.br == nil || p == nil {
		return
	}
	if acked := s.reported().Acknowledged; acked != s.acked && acked == p.ID {
		s.acked = acked
		s.br.Freeze(now, p, s.mb.Proposal() == p)
	}
}

// Flushed implements membership.Votes.
func (s *Stack) Flushed(id membership.ViewID) bool { return s.br == nil || s.br.Ready(id) }

// actBroadcast does what the broadcast has to do in this turn.
func (s *Stack) actBroadcast(now timed.Instant) {
	n := len(s.brOut)
	s.brOut = s.br.HandleTimeout(now, s.ck.Read(now), s.brOut)
	s.performCast(now, n, len(s.brOut))
	if s.br.Ready(s.acked) {
		s.mbOut = s.mb.HandleFlushed(now, s, s.mbOut[:0])
		s.performViews()
	}
}

// castInstalled lets the broadcast finish its old view and begin v.
func (s *Stack) castInstalled(v *membership.View) {
	n := len(s.brOut)
	s.brOut = s.br.Install(s.lastTurn, v, s.brOut)
	s.performCast(s.lastTurn, n, len(s.brOut))
}

// performCast does what the broadcast wants.
func (s *Stack) performCast(now timed.Instant, from, to int) {
	for i := from; i < to; i++ {
		e := &s.brOut[i]
		switch e.Kind {
		case broadcast.Send:
			s.sendCast(now, e)
		case broadcast.Slow:
			s.notify(Event{Kind: EventSlowConsumer, View: e.View})
		case broadcast.Overrun:
			s.notify(Event{Kind: EventOverrun, View: e.View})
		default:
			s.out = append(s.out, Effect{Kind: Cast, Cast: e})
		}
	}
}

// sendCast sends a broadcast packet to one member, or to all.
func (s *Stack) sendCast(now timed.Instant, e *broadcast.Effect) {
	if e.Peer != timed.NoNode {
		s.sendCastTo(now, e.Peer, e.Packet)
		return
	}
	set := s.br.View().Set
	for id := set.Next(0); id != 0; id = set.Next(id) {
		if id != s.cfg.Self.Node {
			s.sendCastTo(now, id, e.Packet)
		}
	}
}

func (s *Stack) sendCastTo(now timed.Instant, id timed.NodeID, c *broadcast.Packet) {
	p := s.address(id, now)
	s.dg.FillEcho(now, &p.Header)
	p.Frames, p.Broadcast = wire.FrameBroadcast, c
	s.dg.NoteSent(now, id)
	s.out = append(s.out, Effect{Kind: Send, To: id, Packet: p})
}

// fillBroadcast puts the broadcast's header into what goes to everybody. The terms
// of a view go with its announcement, or, where they would make the packet too large,
// just before it. Should they be overtaken, the next announcement finds them there.
func (s *Stack) fillBroadcast(now timed.Instant) {
	b := &s.box
	b.cast = s.br.Blank(s.ck.Read(now))
	if b.all&wire.FrameRequest != 0 && b.part.Kind == membership.Commit {
		var before []*broadcast.Commit
		b.cast.Commit, before = s.br.Terms(b.part.ID)
		for _, c := range before {
			p := s.br.Blank(s.ck.Read(now))
			p.Commit = c
			s.sendCast(now, &broadcast.Effect{Kind: broadcast.Send, Packet: p})
		}
	}
	b.all |= wire.FrameBroadcast
}

// dueBroadcast returns when the stack must run next, given when it must without
// broadcast.
func (s *Stack) dueBroadcast(now, due timed.Instant) timed.Instant {
	if s.br.Pending() {
		return timed.Earlier(due, now)
	}
	return timed.Earlier(due, s.br.Deadline())
}

// morePackets holds the packets of a turn. Effects point to them, so they stay
// where they are, and the next turn writes them again.
type morePackets struct {
	packets []*wire.Packet
	used    int
}

func (m *morePackets) take() *wire.Packet {
	if m.used == len(m.packets) {
		m.packets = append(m.packets, new(wire.Packet))
	}
	m.used++
	return m.packets[m.used-1]
}
