package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Offset returns an interval that contains H_peer − H_self at now, or ok =
// false while nothing is known. It is computed from the helpers of both
// directions and widens by 2ρ per unit of time on either side.
func (s *Service) Offset(id timed.NodeID, now timed.Instant) (lo, hi time.Duration, ok bool) {
	p := s.peers[id]
	if p == nil || !p.accepted || !p.seat.hasHelp || p.seat.latest == 0 || p.seat.fault {
		return 0, 0, false
	}
	lo, hi = s.offset(&p.seat, now)
	return lo, hi, true
}

func (s *Service) offset(st *seat, now timed.Instant) (lo, hi time.Duration) {
	rho, least := s.cfg.Timing.MaxDrift, s.leastDelay
	// The peer's packet: its clock showed at least Sent + δmin(1−ρ) when ours
	// showed Received, and loses at most 2ρ against ours since.
	lo = st.echo.Sent.Sub(st.echo.Received) + least - rho.Slack(now.Sub(st.echo.Received), 2)
	// Our packet: ours showed at least Sent + δmin(1−ρ) when the peer's showed
	// Received. We do not know that instant, only that it came after Sent.
	aged := now.Sub(st.helper.Sent)
	hi = st.helper.Received.Sub(st.helper.Sent) - least + (rho.Wait(aged) - aged)
	return lo, hi
}
