package stack

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// HandleSample takes a sample of one of this node's own references of UTC. Its stamp must
// be of this incarnation's clock and not later than now.
func (s *Stack) HandleSample(now timed.Instant, sample *clocksync.Sample, out []Effect) []Effect {
	s.begin(now, out)
	s.clockOut = s.clock.HandleSample(now, sample, s.clockOut[:0])
	s.performClock()
	return s.end(now)
}

// handleLine takes group time, and UTC if known, from the leader that this node supports.
func (s *Stack) handleLine(now timed.Instant, from timed.NodeID, p *wire.Packet) {
	lo, hi, ok := s.datagrams.Offset(now, from)
	if !ok {
		return
	}
	s.clockOut = s.clock.HandleLine(now, &p.Line, lo, hi, s.clockOut[:0])
	if p.Has(wire.FrameUTC) {
		s.clockOut = s.clock.HandleUTC(now, &p.UTC, lo, hi, s.clockOut)
	}
	s.performClock()
}

// forward adds samples of this node's references to the vote for a leader.
func (s *Stack) forward(now timed.Instant, to timed.Incarnation) {
	s.clockOut = s.clock.Forward(now, to, s.clockOut[:0])
	s.performClock()
}

// tellUTC adds what this node knows of UTC to the answer to a request that says less.
func (s *Stack) tellUTC(now timed.Instant, to timed.NodeID, p *wire.Packet) {
	var announced *clocksync.UTC
	if p.Has(wire.FrameUTC) {
		announced = &p.UTC
	}
	s.clockOut = s.clock.Tell(now, to, announced, s.clockOut[:0])
	s.performClock()
}

// handleTold takes what a node says of UTC in its answer to a request for votes.
func (s *Stack) handleTold(now timed.Instant, from timed.NodeID, u *clocksync.UTC) {
	if lo, hi, ok := s.datagrams.Offset(now, from); ok {
		s.clockOut = s.clock.HandleTold(now, u, lo, hi, s.clockOut[:0])
		s.performClock()
	}
}

// handleSamples takes samples of a supporter's references.
func (s *Stack) handleSamples(now timed.Instant, from timed.NodeID, f *clocksync.Forwarded) {
	if lo, hi, ok := s.datagrams.Offset(now, from); ok {
		s.clockOut = s.clock.HandleForwarded(now, from, f, lo, hi, s.clockOut[:0])
		s.performClock()
	}
}

// announceClock adds group time to a request of this node, which leads. Group time follows
// UTC just before.
func (s *Stack) announceClock(now timed.Instant) {
	s.clockOut = s.clock.Steer(now, s.clockOut[:0])
	s.performClock()
	lease, _ := s.election.Leading()
	s.clockOut = s.clock.Announce(now, lease, s.clockOut[:0])
	s.performClock()
}

// performClock performs the effects of the clock.
func (s *Stack) performClock() {
	b := &s.outbox
	for i := range s.clockOut {
		e := &s.clockOut[i]
		switch e.Kind {
		case clocksync.SendLine:
			b.line, b.toAll = e.Line, b.toAll|wire.FrameLine
		case clocksync.SendUTC:
			b.utc, b.toAll = e.UTC, b.toAll|wire.FrameUTC
		case clocksync.SendSamples:
			b.peer, b.samples, b.toOne = e.Peer, e.Samples, b.toOne|wire.FrameSamples
		case clocksync.TellUTC:
			b.peer, b.utc, b.toOne = e.Peer, e.UTC, b.toOne|wire.FrameUTC
		default:
			s.notifyClock(e)
		}
	}
	s.clockOut = s.clockOut[:0]
}

// notifyClock reports a change of the clock.
func (s *Stack) notifyClock(e *clocksync.Effect) {
	ev := Event{Timeline: e.Timeline, Parent: e.Parent, Step: e.Step, Peer: e.Timeline.Leader}
	switch e.Kind {
	case clocksync.Adopted:
		ev.Kind = EventClockAdopted
	case clocksync.Stepped:
		ev.Kind = EventClockStepped
	case clocksync.UTCChanged:
		ev.Kind, ev.UTC = EventUTCChanged, e.State
	case clocksync.Falseticker:
		ev.Kind, ev.Peer, ev.Source = EventFalseticker, e.Peer, e.Source
	case clocksync.Truechimer:
		ev.Kind, ev.Peer, ev.Source = EventTruechimer, e.Peer, e.Source
	}
	s.notify(ev)
}
