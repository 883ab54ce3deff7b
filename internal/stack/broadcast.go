package stack

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Broadcast copies a payload, to be delivered to the members of the view. HandleTimeout,
// which becomes due at once, does the rest: the messages of a turn share packets. The
// errors are those of package broadcast. Broadcast must only be called with a broadcast
// configured.
func (s *Stack) Broadcast(now timed.Instant, payload []byte, opt broadcast.Options) (broadcast.ID, error) {
	id, err := s.broadcast.Broadcast(s.clock.Read(now), payload, opt)
	if err == nil && s.broadcast.Pending() {
		s.due = timed.Earlier(s.due, now)
	}
	return id, err
}

// BroadcastSlab is Broadcast with a payload of n bytes at off in a slab, which is not
// copied: see [broadcast.Service.BroadcastSlab].
func (s *Stack) BroadcastSlab(now timed.Instant, b broadcast.Slab, off, n int, opt broadcast.Options) (broadcast.ID, error) {
	id, err := s.broadcast.BroadcastSlab(s.clock.Read(now), b, off, n, opt)
	if err == nil && s.broadcast.Pending() {
		s.due = timed.Earlier(s.due, now)
	}
	return id, err
}

// TakeSlab returns memory for the payloads of own messages: see
// [broadcast.Service.TakeSlab].
func (s *Stack) TakeSlab() (broadcast.Slab, []byte) { return s.broadcast.TakeSlab() }

// CloseSlab ends the use of a slab by the caller.
func (s *Stack) CloseSlab(b broadcast.Slab) { s.broadcast.CloseSlab(b) }

// Consumed notes that the application has taken count deliveries with n payload bytes in
// all.
func (s *Stack) Consumed(now timed.Instant, n, count int) {
	s.broadcast.Consumed(n, count)
	if s.broadcast.Pending() {
		s.due = timed.Earlier(s.due, now)
	}
}

// Borrow keeps the payload of a delivery of this turn until GiveBack: see
// [broadcast.Service.Borrow].
func (s *Stack) Borrow(d *broadcast.Delivery) broadcast.Loan { return s.broadcast.Borrow(d) }

// GiveBack ends n equal loans.
func (s *Stack) GiveBack(l broadcast.Loan, n int) { s.broadcast.GiveBack(l, n) }

// RecallOrdered tells the broadcast which ordered messages the application has already: see
// [broadcast.Service.RecallOrdered].
func (s *Stack) RecallOrdered(marks []broadcast.Mark) bool { return s.broadcast.RecallOrdered(marks) }

// BroadcastState returns the broadcast, for reading in the same goroutine, or nil.
func (s *Stack) BroadcastState() *broadcast.Service { return s.broadcast }

// handleBroadcast takes a peer's broadcast frame. A packet with nothing else leaves the
// effects to HandleTimeout, which is due at once, so that a batch of packets has one answer.
func (s *Stack) handleBroadcast(now timed.Instant, from timed.Incarnation, p *wire.Packet) {
	s.broadcastOut = s.broadcast.HandlePacket(now, from, p.Broadcast, s.broadcastOut)
	s.deferBroadcast = p.Frames == wire.FrameBroadcast
}

// freezeBroadcast freezes the broadcast if proposal p has just been acknowledged.
func (s *Stack) freezeBroadcast(now timed.Instant, p *membership.View) {
	if s.broadcast == nil || p == nil {
		return
	}
	if acknowledged := s.report().Acknowledged; acknowledged != s.acknowledged && acknowledged == p.ID {
		s.acknowledged = acknowledged
		s.broadcast.Freeze(now, p, s.views.Proposal() == p)
	}
}

// timeoutBroadcast does the due work of the broadcast.
func (s *Stack) timeoutBroadcast(now timed.Instant) {
	n := len(s.broadcastOut)
	s.broadcastOut = s.broadcast.HandleTimeout(now, s.clock.Read(now), s.broadcastOut)
	s.performBroadcast(now, n, len(s.broadcastOut))
	if s.broadcast.Ready(s.acknowledged) {
		s.viewsOut = s.views.HandleFlushed(now, s, s.viewsOut[:0])
		s.performViews()
	} else if stuck := s.broadcast.Stuck(now); !stuck.Empty() {
		s.viewsOut = s.views.PutOff(now, stuck, s.viewsOut[:0])
		s.performViews()
	}
}

// installBroadcast lets the broadcast finish its old view and begin v.
func (s *Stack) installBroadcast(v *membership.View) {
	n := len(s.broadcastOut)
	s.broadcastOut = s.broadcast.Install(s.lastTurn, v, s.broadcastOut)
	s.performBroadcast(s.lastTurn, n, len(s.broadcastOut))
}

// performBroadcast performs the effects [from, to) of the broadcast.
func (s *Stack) performBroadcast(now timed.Instant, from, to int) {
	for i := from; i < to; i++ {
		e := &s.broadcastOut[i]
		switch e.Kind {
		case broadcast.Send:
			s.sendBroadcast(now, e)
		case broadcast.Slow:
			s.notify(Event{Kind: EventSlowConsumer, View: e.View})
		case broadcast.Ahead:
			s.notify(Event{Kind: EventStampAhead, View: e.View, Peer: e.Peer, Step: e.By})
		case broadcast.Overrun:
			s.notify(Event{Kind: EventOverrun, View: e.View})
		default:
			s.out = append(s.out, Effect{Kind: Deliver, Broadcast: e})
		}
	}
}

// sendBroadcast sends a broadcast packet to one member or to all.
func (s *Stack) sendBroadcast(now timed.Instant, e *broadcast.Effect) {
	if e.Peer != timed.NoNode {
		s.sendBroadcastTo(now, e.Peer, e.Packet)
		return
	}
	s.sendBroadcastToAll(now, s.broadcast.View().Set, e.Packet)
}

func (s *Stack) sendBroadcastToAll(now timed.Instant, set timed.Set, c *broadcast.Packet) {
	for id := set.Next(0); id != 0; id = set.Next(id) {
		if id != s.cfg.Self.Node {
			s.sendBroadcastTo(now, id, c)
		}
	}
}

func (s *Stack) sendBroadcastTo(now timed.Instant, id timed.NodeID, c *broadcast.Packet) {
	p := s.address(now, id)
	s.datagrams.FillEcho(now, &p.Header)
	p.Frames, p.Broadcast = wire.FrameBroadcast, c
	s.datagrams.NoteSent(now, id)
	s.out = append(s.out, Effect{Kind: Send, Peer: id, Packet: p})
}

// fillBroadcast adds the broadcast's header to the frames for all peers. The terms of a
// view go with its announcement or, where they would make the packet too large, just
// before it. If the announcement overtakes the terms, the next one finds them there.
func (s *Stack) fillBroadcast(now timed.Instant) {
	b := &s.outbox
	b.broadcast = s.broadcast.Blank(s.clock.Read(now))
	if b.toAll&wire.FrameRequest != 0 && b.part.Kind == membership.Commit {
		var before []*broadcast.Commit
		var to timed.Set
		b.broadcast.Commit, before, to = s.broadcast.Terms(b.part.ID)
		for _, c := range before {
			p := s.broadcast.Blank(s.clock.Read(now))
			p.Commit = c
			s.sendBroadcastToAll(now, to, p)
		}
	}
	b.toAll |= wire.FrameBroadcast
}
