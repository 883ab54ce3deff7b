package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// A fault between two clocks separates their nodes. They forget all measurements between
// them, because the wrong ones are unknown. After a while the two hear each other again by
// measurements made since. That is safe: a bound rests on its four stamps and on both clocks
// between these, so bounds by later pairs hold if both clocks have kept ρ since the fault. If
// they have not, the next contradiction separates the nodes for twice as long.
//
// Both sides must forget. A node counts a pair of its own packet only if it sent the
// packet after the fault, and a pair of a peer's packet only if the packet echoes a
// stamp from after the fault, so that the peer sent it later than that. While the
// separation lasts, the echoes say [Distrusted]; at each of them the peer forgets its pairs
// too, and at the first it counts the fault as its own. At the end of the separation the node
// that found the evidence forgets once more. It then has no pair from before the instant at
// which its peer last forgot, which it might echo for long because no later one betters it.

const (
	// maxSeparation is the longest time for which one contradiction separates two nodes,
	// unless their votes last longer.
	maxSeparation = 10 * time.Minute
	// evidenceLasts is how long a contradiction counts against the clocks, and makes the
	// next separation longer. Peers of a clock with a wrong rate may find out within
	// minutes of each other.
	evidenceLasts = time.Hour
	// conflictCounts is how many contradictions the first conflict of counters counts for.
	conflictCounts = 4
)

// evidence counts the contradictions that speak against a session.
type evidence struct {
	fault     bool          // the two nodes are separated
	own       bool          // because this node found evidence against the clocks, as the echoes say
	until     timed.Instant // end of the separation
	found     timed.Instant // when the last contradiction of the clocks showed
	count     uint8         // contradictions, each within evidenceLasts of the one before
	conflicts uint8         // of counters
	since     timed.Instant // pairs from before say nothing; 0: all count
}

// separation returns for how long a fault separates two nodes. The first separation lasts
// until every vote and lease that rests on former bounds is over, and each later one twice
// as long as the one before. maxSeparation limits the later ones, but none is shorter than
// the first.
func (s *Service) separation(count uint8) time.Duration {
	t := &s.cfg.Timing
	first := t.Expires + t.MaxDrift.Wait(t.MaxLockTime)
	limit := max(first, maxSeparation)
	d := first
	for ; count > 1 && d < limit; count-- {
		d *= 2
	}
	return min(d, limit)
}

// distrust takes a contradiction between the clocks of this node and a peer.
func (s *Service) distrust(now timed.Instant, p *peer, id timed.NodeID) Kind {
	c, kind := &p.current, Faulty
	if c.fault {
		kind = Dropped // it only prolongs the separation
	} else {
		if c.count > 0 && now.Sub(c.found) > evidenceLasts {
			c.count = 0
		}
		c.count = min(c.count, 254) + 1
	}
	c.found, c.own = now, true
	s.separate(now, p, id, s.separation(c.count))
	return kind
}

// hearDistrust takes the report of a peer that it found evidence against one of the two
// clocks. It reports whether that is news: this node has neither found the same evidence
// nor heard of it before.
func (s *Service) hearDistrust(now timed.Instant, p *peer, id timed.NodeID) (news bool) {
	c := &p.current
	c.forget(now)
	s.notAlive(p, id)
	if c.fault || c.count > 0 && now < c.until.Add(s.separation(c.count)) {
		return false
	}
	s.distrust(now, p, id)
	c.own = false
	return true
}

// separate makes a peer not alive for a while.
func (s *Service) separate(now timed.Instant, p *peer, id timed.NodeID, d time.Duration) {
	c := &p.current
	c.fault, c.until = true, now.Add(d)
	c.forget(now)
	s.notAlive(p, id)
}

// doubt takes two packets with one counter. The first conflict can come from a damaged
// packet, so it separates for a time only. The second proves twins for good.
func (s *Service) doubt(now timed.Instant, p *peer, id timed.NodeID) Kind {
	c := &p.current
	c.conflicts++
	c.own = false
	s.separate(now, p, id, s.separation(conflictCounts))
	if c.conflicts < 2 {
		return Twin
	}
	c.twins = true
	return Dropped
}

// reunite ends a separation whose time is over. That of twins has no end.
func (c *session) reunite(now timed.Instant) {
	if c.fault && !c.twins && now >= c.until {
		if c.fault = false; c.own {
			c.forget(now) // the peer has forgotten since, at each packet that said Distrusted
		}
	}
}

// forget drops everything that was measured in the session until now.
func (c *session) forget(now timed.Instant) {
	c.since = now
	c.best, c.proven, c.latest = Pair{}, false, 0
	c.helper, c.hasHelper = Pair{}, false
	c.hearingStamp, c.lastDelay = 0, Delay{Bound: Unknown}
}

// later reports whether the packet was surely sent after everything measured so far was
// forgotten.
func (s *Service) later(c *session, h *Header) bool {
	return c.since == 0 || h.Echo.Boot == s.cfg.Self.Boot && h.Echo.Latest >= c.since
}
