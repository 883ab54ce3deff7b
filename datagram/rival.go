package datagram

import "github.com/failaware/failaware/timed"

// rivalry is the evidence that a challenger is not a restarted peer, but another process
// that runs beside the accepted one.
type rivalry struct {
	came timed.Instant // when a packet came that it sent after one of the accepted incarnation; 0: none has
	told bool
}

// noteRival takes a packet of a challenger. It reports, once for each challenger, that the
// accepted incarnation sent a packet before the challenger did, and another one after it.
// An incarnation that has ended sends nothing more, so the challenger is not a restart of
// the accepted one.
func (s *Service) noteRival(received timed.Instant, p *peer, h *Header) bool {
	r, heard := &p.challenger.rivalry, p.current.lastDirect
	if heard == 0 || r.told {
		return false
	}
	switch {
	case r.came != 0: // a fast packet left at most Δ before it came
		r.told = heard.Sub(r.came) > s.cfg.Timing.MaxDrift.Wait(s.cfg.Timing.FastThreshold)
	case h.Echo.Boot != s.cfg.Self.Boot: // it need not have heard this node
	case heard <= h.Echo.Latest: // it has heard what this node sent after that
		r.came = received
	}
	return r.told
}
