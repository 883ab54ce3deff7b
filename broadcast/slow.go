package broadcast

import "github.com/failaware/failaware/timed"

// slowness watches how the application takes its deliveries. A node whose
// application lags says no more that it has anything, so that the window closes
// and its senders wait; when that lasts too long, it says so, and then leaves
// rather than stall everyone.
type slowness struct {
	backlog int
	on      bool
	said    uint64 // what was acknowledged when it began
	warnAt  timed.Instant
	leaveAt timed.Instant
	warned  bool
	leaving bool
}

// Consumed says that the application has taken deliveries of n payload bytes in
// all, count of them.
func (s *Service) Consumed(n, count int) {
	s.slow.backlog = max(0, s.slow.backlog-n-count*perMessage)
	if s.slow.on && s.slow.backlog <= s.cfg.Backlog/2 {
		s.slow.on, s.slow.warned = false, false
		if s.view != nil {
			s.members[s.me].ack = s.have
			s.restable()
		}
		s.urgent = true // say at once what was kept back
	}
}

// said returns which decisions this node acknowledges.
func (s *Service) said() uint64 {
	if s.slow.on {
		return min(s.have, s.slow.said)
	}
	return s.have
}

func (l *slowness) due() timed.Instant {
	switch {
	case !l.on || l.leaving:
		return timed.Never
	case !l.warned:
		return l.warnAt
	}
	return l.leaveAt
}

// checkSlow looks at the backlog.
func (s *Service) checkSlow(now timed.Instant, out []Effect) []Effect {
	l := &s.slow
	if !l.on && l.backlog > s.cfg.Backlog {
		l.on, l.said, l.warned = true, s.have, false
		l.warnAt, l.leaveAt = now.Add(s.cfg.SlowAfter), now.Add(2*s.cfg.SlowAfter)
	}
	if l.on && !l.warned && now >= l.warnAt {
		l.warned = true
		out = append(out, Effect{Kind: Slow, View: s.view, Backlog: l.backlog})
	}
	if l.on && !l.leaving && now >= l.leaveAt {
		l.leaving = true
		out = append(out, Effect{Kind: Overrun, View: s.view, Backlog: l.backlog})
	}
	return out
}
