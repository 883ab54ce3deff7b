package datagram

import "github.com/failaware/failaware/timed"

// SentAround notes that a peer will hear of this node by way of others: the
// keepalive that is due to it next may wait, unless the last direct packet is
// so old that delay bounds need another.
func (s *Service) SentAround(id timed.NodeID, now timed.Instant) {
	// One more keepalive period will pass before the next chance.
	if p := s.peers[id]; p != nil && now.Sub(p.lastDirect) < s.cfg.Timing.AroundPeriod()-s.cfg.Timing.KeepalivePeriod {
		p.lastSent = now
	}
}

// HeardAround takes a word of a peer's incarnation that came by way of others
// and shows that the peer ran, and heard this node, when this node's clock
// showed since or later. It counts as a fast packet would that left then, but
// only prolongs what direct packets began: who is heard by way of others alone
// is alive for a bounded time. HeardAround reports whether the incarnation is
// the accepted one.
func (s *Service) HeardAround(from timed.Incarnation, since timed.Instant) bool {
	p := s.peers[from.Node]
	if p == nil || !p.accepted || p.seat.boot != from.Boot {
		return false
	}
	t, st := &s.cfg.Timing, &p.seat
	if st.fault || !st.hasFast {
		return true
	}
	if since.Sub(st.direct) > t.AroundPeriod()+t.Expires {
		return true
	}
	st.lastFast = timed.Later(st.lastFast, since)
	p.around = timed.Later(p.around, since.Add(t.Expires))
	if p.around > p.aliveUntil {
		p.aliveUntil = p.around
		s.alive.Add(from.Node)
		s.nextExpiry = timed.Earlier(s.nextExpiry, p.around)
	}
	return true
}
