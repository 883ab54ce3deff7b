package stack

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// HandleSample takes a sample of one of this node's own references of UTC. Its
// stamp must be of this incarnation's clock, and not later than now.
func (s *Stack) HandleSample(now timed.Instant, sample *clocksync.Sample, out []Effect) []Effect {
	s.begin(now, out)
	s.ckOut = s.ck.HandleSample(now, sample, s.ckOut[:0])
	s.performClock()
	return s.end(now)
}

// forward adds to the vote for a leader what this node's references say.
func (s *Stack) forward(now timed.Instant, to timed.Incarnation) {
	s.ckOut = s.ck.Forward(now, to, s.ckOut[:0])
	s.performClock()
}

// handleSamples takes what the references of a supporter say.
func (s *Stack) handleSamples(now timed.Instant, from timed.NodeID, f *clocksync.Forwarded) {
	if lo, hi, ok := s.dg.Offset(now, from); ok {
		s.ckOut = s.ck.HandleForwarded(now, from, f, lo, hi, s.ckOut[:0])
		s.performClock()
	}
}

// steer lets group time follow UTC, just before it is announced.
func (s *Stack) steer(now timed.Instant) {
	s.ckOut = s.ck.Steer(now, s.ckOut[:0])
	s.performClock()
}

// performClock performs the effects of the clock.
func (s *Stack) performClock() {
	b := &s.box
	for i := range s.ckOut {
		e := &s.ckOut[i]
		ev := Event{Timeline: e.Timeline, Parent: e.Parent, Step: e.Step, Peer: e.Timeline.Leader}
		switch e.Kind {
		case clocksync.SendLine:
			b.line, b.all = e.Line, b.all|wire.FrameLine
			continue
		case clocksync.SendUTC:
			b.utc, b.all = e.UTC, b.all|wire.FrameUTC
			continue
		case clocksync.SendSamples:
			b.to, b.samples, b.uni = e.Peer, e.Samples, b.uni|wire.FrameSamples
			continue
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
	s.ckOut = s.ckOut[:0]
}
