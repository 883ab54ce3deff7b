package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// noteFast notes a fast packet of a peer. The peer is alive until received + expires −
// heardAge(1+2ρ). So a peer that no longer hears this node stops being alive here
// within expires of the last packet that it heard, and a link that works in one
// direction only makes no peer alive on one side for longer.
func (s *Service) noteFast(received timed.Instant, p *peer, h *Header) {
	c := &p.current
	c.lastFast, c.hasFast = timed.Later(c.lastFast, received), true
	c.lastDirect = timed.Later(c.lastDirect, received)
	if h.Stamp < c.hearingStamp {
		return // overtaken: a later packet has already reported whether the peer hears
	}
	c.hearingStamp = h.Stamp
	left := s.hearing(h)
	c.hears, p.aliveUntil = left > 0, 0
	if c.hears {
		p.aliveUntil = timed.Later(received.Add(left), p.indirectUntil)
	}
	if received < p.aliveUntil {
		s.alive.Add(h.Source)
		s.nextExpiry = timed.Earlier(s.nextExpiry, p.aliveUntil)
	} else {
		s.alive.Remove(h.Source)
	}
}

// hearing returns for how long after the sending of a packet its sender counts as hearing
// this node. The result is not above 0 if the sender does not.
func (s *Service) hearing(h *Header) time.Duration {
	if h.Echo.Boot != s.cfg.Self.Boot || !h.Echo.hears() {
		return 0
	}
	return s.cfg.Timing.Expires - s.cfg.Timing.MaxDrift.Wait(max(h.Stamp.Sub(h.Echo.Heard), 0))
}

// notAlive removes a peer from the alive set.
func (s *Service) notAlive(p *peer, id timed.NodeID) {
	p.aliveUntil, p.indirectUntil = 0, 0
	p.current.hasFast = false
	s.alive.Remove(id)
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

// Deadline returns when [Service.Alive] next shrinks or a keepalive is due.
func (s *Service) Deadline() timed.Instant {
	// Peers that are heard stay alive, so the next expiry is usually out of date.
	// It is computed again only when it would come before the next keepalive.
	if s.nextExpiry < s.nextKeepalive {
		s.nextExpiry = timed.Never
		for id := s.alive.Next(0); id != 0; id = s.alive.Next(id) {
			s.nextExpiry = timed.Earlier(s.nextExpiry, s.peers[id].aliveUntil)
		}
	}
	return timed.Earlier(s.nextExpiry, s.nextKeepalive)
}

// KeepalivesDue returns the peers to which a keepalive is due at now. A caller that
// sends packets anyway sets early, and then also gets the peers to which nothing
// was sent for half a period, so that the packets of a period leave in one batch.
func (s *Service) KeepalivesDue(now timed.Instant, early bool) timed.Set {
	period := s.cfg.Timing.KeepalivePeriod
	limit := period
	if early {
		limit = period / 2
	} else if now < s.nextKeepalive {
		return timed.Set{}
	}
	var due timed.Set
	next := timed.Never
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		p := s.peers[id]
		if now.Sub(p.lastSent) >= limit {
			due.Add(id)
			next = timed.Earlier(next, now.Add(period))
		} else {
			next = timed.Earlier(next, p.lastSent.Add(period))
		}
	}
	s.nextKeepalive = next
	return due
}

// NoteSent notes that a packet leaves for a peer.
func (s *Service) NoteSent(now timed.Instant, id timed.NodeID) {
	if p := s.peers[id]; p != nil {
		p.lastSent, p.lastSentDirect = now, now
	}
}
