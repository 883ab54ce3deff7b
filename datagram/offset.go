package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Offset returns an interval that contains H_peer − H_self at now; ok is false
// while nothing is known. The helpers of both directions give the interval, which
// widens by 2ρ per unit of time on either side.
func (s *Service) Offset(now timed.Instant, id timed.NodeID) (lo, hi time.Duration, ok bool) {
	p := s.peers[id]
	if p == nil || !p.accepted || !p.current.hasHelper || !p.current.proven || p.current.fault {
		return 0, 0, false
	}
	lo, hi = s.offset(now, &p.current)
	return min(lo, hi), max(lo, hi), true
}

func (s *Service) offset(now timed.Instant, c *session) (lo, hi time.Duration) {
	rho, least := s.cfg.Timing.MaxDrift, s.leastDelay
	// The peer's packet: its clock showed at least Sent + δmin(1−ρ) when ours
	// showed Received, and has lost at most 2ρ against ours since.
	lo = c.best.Sent.Sub(c.best.Received) + least - rho.Slack(now.Sub(c.best.Received), 2)
	// Our packet: ours showed at least Sent + δmin(1−ρ) when the peer's showed
	// Received. We know of that instant only that it came after Sent.
	aged := now.Sub(c.helper.Sent)
	hi = c.helper.Received.Sub(c.helper.Sent) - least + (rho.Wait(aged) - aged)
	return lo, hi
}
