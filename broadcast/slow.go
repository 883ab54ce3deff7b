package broadcast

import "github.com/failaware/failaware/timed"

// backpressure watches how fast the application takes its deliveries. A node whose
// application lags stops its acknowledgements, so that the window closes and senders
// wait. If that lasts too long the node reports it, and then leaves, so that it does not
// stall the group.
type backpressure struct {
	backlog int
	on      bool
	acked   uint64 // acknowledged when it began
	warnAt  timed.Instant
	leaveAt timed.Instant
	warned  bool
	leaving bool
}

// Consumed notes that the application has taken count deliveries with n payload bytes in
// all.
func (s *Service) Consumed(n, count int) {
	s.slow.backlog = max(0, s.slow.backlog-n-count*perMessage)
	if s.slow.on && s.slow.backlog <= s.cfg.Backlog/2 {
		s.slow.on, s.slow.warned = false, false
		if s.view != nil {
			s.members[s.me].ack = s.have
			s.restable()
		}
		s.urgent = true // send the held-back acknowledgement at once
	}
}

// acknowledged returns the decisions that this node acknowledges.
func (s *Service) acknowledged() uint64 {
	if s.slow.on {
		return min(s.have, s.slow.acked)
	}
	return s.have
}

func (l *backpressure) due() timed.Instant {
	switch {
	case !l.on || l.leaving:
		return timed.Never
	case !l.warned:
		return l.warnAt
	}
	return l.leaveAt
}

// checkSlow checks the backlog.
func (s *Service) checkSlow(now timed.Instant, out []Effect) []Effect {
	l := &s.slow
	if !l.on && l.backlog > s.cfg.Backlog {
		l.on, l.acked, l.warned = true, s.have, false
		l.warnAt, l.leaveAt = now.Add(s.cfg.SlowAfter), now.Add(2*s.cfg.SlowAfter)
	}
	if l.on && !l.warned && now >= l.warnAt {
		l.warned = true
		out = append(out, Effect{Kind: Slow, View: s.view})
	}
	if l.on && !l.leaving && now >= l.leaveAt {
		l.leaving = true
		out = append(out, Effect{Kind: Overrun, View: s.view})
	}
	return out
}
