package datagram

import "github.com/failaware/failaware/timed"

// hear notes a fast packet of a peer received at r. The peer is alive until
// r + expires − heardAge(1+2ρ): a peer that no longer hears this node stops
// being alive here within expires of the last time that it did, so that a link
// that works one way only makes nobody alive on one side for longer.
func (s *Service) hear(p *peer, h *Header, r timed.Instant) {
	p.seat.lastFast, p.seat.hasFast = timed.Later(p.seat.lastFast, r), true
	p.seat.direct = timed.Later(p.seat.direct, r)
	if h.Stamp < p.seat.heardBy {
		return // overtaken: a later packet has said more about its hearing
	}
	p.seat.heardBy = h.Stamp
	p.aliveUntil = 0
	if h.Echo.Boot == s.cfg.Self.Boot && h.Echo.Heard != NotHeard {
		age := max(h.Stamp.Sub(h.Echo.Heard), 0)
		p.aliveUntil = timed.Later(r.Add(s.cfg.Timing.Expires-s.cfg.Timing.MaxDrift.Wait(age)), p.around)
	}
	if r < p.aliveUntil {
		s.alive.Add(h.Source)
		s.nextExpiry = timed.Earlier(s.nextExpiry, p.aliveUntil)
	} else {
		s.alive.Remove(h.Source)
	}
}

// Alive returns the peers that are alive at now.
func (s *Service) Alive(now timed.Instant) timed.Set {
	if now >= s.nextExpiry {
		s.nextExpiry = timed.Never
		for id := s.alive.Next(0); id != 0; id = s.alive.Next(id) {
			if until := s.peers[id].aliveUntil; now >= until {
				s.alive.Remove(id)
			} else {
				s.nextExpiry = timed.Earlier(s.nextExpiry, until)
			}
		}
	}
	return s.alive
}

// Deadline returns when [Service.Alive] next shrinks or a keepalive is due, as far
// as that comes before limit, when the caller wakes up anyway. Peers that are
// heard go on being alive, so what was the next expiry may long be none: it is
// looked for again only when it would cost a wake-up.
func (s *Service) Deadline(limit timed.Instant) timed.Instant {
	if s.nextExpiry < limit && s.nextExpiry < s.nextBeat {
		s.nextExpiry = timed.Never
		for id := s.alive.Next(0); id != 0; id = s.alive.Next(id) {
			s.nextExpiry = timed.Earlier(s.nextExpiry, s.peers[id].aliveUntil)
		}
	}
	return timed.Earlier(s.nextExpiry, s.nextBeat)
}

// Echo writes into the header what to say in a packet that leaves for its
// destination.
func (s *Service) Echo(h *Header, now timed.Instant) {
	p := s.peers[h.Destination]
	if p == nil {
		h.Echo = Echo{Heard: NotHeard}
		return
	}
	// Until somebody holds the seat, the one that sends gets the echo: a late
	// packet of a dead incarnation must not keep the echoes from the living.
	if c := &p.challenger; c.boot != 0 && !s.holds(p, now) && (!p.accepted || c.seen > p.seat.seen) {
		c.say(&h.Echo, NotHeard)
		return
	}
	if !p.accepted {
		h.Echo = Echo{Heard: NotHeard}
		return
	}
	heard := NotHeard
	if p.seat.hasFast && !p.seat.fault && s.ready {
		heard = p.seat.lastFast
	}
	p.seat.say(&h.Echo, heard)
}

// EchoChallenger writes the echo for the incarnation that claims a taken seat.
func (s *Service) EchoChallenger(h *Header) {
	if p := s.peers[h.Destination]; p != nil && p.challenger.boot != 0 {
		p.challenger.say(&h.Echo, NotHeard)
		return
	}
	h.Echo = Echo{Heard: NotHeard}
}

func (st *seat) say(e *Echo, heard timed.Instant) {
	e.Boot, e.Latest, e.Heard = st.boot, st.latest, heard
	e.Sent, e.Received = st.echo.Sent, st.echo.Received
}

// Sent notes that a packet leaves for a peer.
func (s *Service) Sent(id timed.NodeID, now timed.Instant) {
	if p := s.peers[id]; p != nil {
		p.lastSent, p.lastDirect = now, now
	}
}

// Due returns the peers to which a keepalive is due at now or, with early, has been
// unsent for half a period. A caller
// that sends anyway asks with some early time, so that the packets of a period
// leave in one batch.
func (s *Service) Due(now timed.Instant, early bool) timed.Set {
	kp := s.cfg.Timing.KeepalivePeriod
	limit := kp
	if early {
		limit = kp / 2
	} else if now < s.nextBeat {
		return timed.Set{}
	}
	var due timed.Set
	next := timed.Never
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		p := s.peers[id]
		if now.Sub(p.lastSent) >= limit {
			due.Add(id)
			next = timed.Earlier(next, now.Add(kp))
		} else {
			next = timed.Earlier(next, p.lastSent.Add(kp))
		}
	}
	s.nextBeat = next
	return due
}
