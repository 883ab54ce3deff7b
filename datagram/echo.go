package datagram

import "github.com/failaware/failaware/timed"

// FillEcho writes the echo of a packet that leaves for the header's destination.
func (s *Service) FillEcho(now timed.Instant, h *Header) {
	p := s.peers[h.Destination]
	if p == nil {
		h.Echo = Echo{Heard: NotHeard}
		return
	}
	// While no incarnation is heard fast, the one heard last gets the echo: a late
	// packet of a dead incarnation must not divert the echoes from the living one.
	if c := &p.challenger; c.boot != 0 && !s.stillHeard(now, p) && (!p.accepted || c.lastSeen > p.current.lastSeen) {
		c.fill(&h.Echo, NotHeard)
		return
	}
	if !p.accepted || p.current.latest == 0 {
		h.Echo = Echo{Heard: NotHeard}
		return
	}
	heard := NotHeard
	switch {
	case p.current.fault && p.current.own:
		heard = Distrusted
	case p.current.hasFast && s.ready:
		heard = p.current.lastFast
	}
	p.current.fill(&h.Echo, heard)
}

// FillChallengerEcho writes the echo for the incarnation that challenges the
// accepted one.
func (s *Service) FillChallengerEcho(h *Header) {
	if p := s.peers[h.Destination]; p != nil && p.challenger.boot != 0 {
		p.challenger.fill(&h.Echo, NotHeard)
		return
	}
	h.Echo = Echo{Heard: NotHeard}
}

// fill writes field by field: on the hot path, copying a struct right after it was
// written in parts costs several times as much.
func (c *session) fill(e *Echo, heard timed.Instant) {
	e.Boot, e.Latest, e.Heard = c.boot, c.latest, heard
	e.Sent, e.Received = c.best.Sent, c.best.Received
}
