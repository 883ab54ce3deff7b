package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// NoteSentIndirectly notes that a peer will hear of this node through others. The
// next keepalive to it may wait, unless the last direct packet is so old that delay
// bounds need another, or the peer does not hear this node.
func (s *Service) NoteSentIndirectly(now timed.Instant, id timed.NodeID) {
	// The next chance to send comes one keepalive period later.
	p, most := s.peers[id], s.indirect-s.cfg.Timing.KeepalivePeriod
	if p != nil && p.current.hears && now.Sub(p.lastSentDirect) < most {
		p.lastSent = now
	}
}

// NotePeriod notes the KeepalivePeriod of a peer, or 0 if it is not known.
func (s *Service) NotePeriod(id timed.NodeID, period time.Duration) {
	if p := s.peers[id]; p != nil {
		p.current.period = period
	}
}

// wordLasts returns for how long the word of others about a peer counts if that is longer than
// s.word, as direct packets of a peer with a longer KeepalivePeriod come more seldom.
func (s *Service) wordLasts(c *session) time.Duration {
	t := s.cfg.Timing
	// Expires is too short for peers with a much longer period, whatever others say.
	t.KeepalivePeriod = max(t.KeepalivePeriod, min(c.period, t.Expires/2))
	return t.WordLasts()
}

// NoteHeardIndirectly takes evidence from others that an incarnation ran when this node's
// clock showed since or later. It counts as a fast packet sent at since, but only extends
// the effect of direct packets: a peer heard through others alone is alive for a bounded
// time, and one whose last direct packet says that it does not hear this node is not alive.
func (s *Service) NoteHeardIndirectly(since timed.Instant, from timed.Incarnation) {
	p := s.peers[from.Node]
	if p == nil || !p.accepted || p.current.boot != from.Boot {
		return
	}
	t, c := &s.cfg.Timing, &p.current
	if !c.hasFast || !c.hears { // after a fault, too, until the next fast packet
		return
	}
	if age := since.Sub(c.lastDirect); age > s.word && age > s.wordLasts(c) {
		return
	}
	c.lastFast = timed.Later(c.lastFast, since)
	p.indirectUntil = timed.Later(p.indirectUntil, since.Add(t.Expires))
	if p.indirectUntil > p.aliveUntil {
		p.aliveUntil = p.indirectUntil
		s.alive.Add(from.Node)
		s.nextExpiry = timed.Earlier(s.nextExpiry, p.indirectUntil)
	}
}
