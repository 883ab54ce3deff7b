package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// session is the knowledge of one incarnation of a peer.
type session struct {
	boot         timed.BootID
	best         Pair          // best helper of the peer's packets, to be echoed
	proven       bool          // best counts here too: nothing was forgotten after it was sent
	latest       timed.Instant // its newest stamp
	lastSeen     timed.Instant // when its last packet came
	lastFast     timed.Instant // when its last fast packet came, directly or through others
	lastDirect   timed.Instant // when its last fast packet came directly
	hearingStamp timed.Instant // its stamp of the packet that set aliveUntil
	hasFast      bool
	hears        bool // by that packet it hears this node
	helper       Pair // best helper of our packets, as the peer echoed it
	hasHelper    bool
	evidence
	rivalry   rivalry
	twins     bool // two processes use this incarnation
	recent    recentPackets
	lastDelay Delay
	period    time.Duration // its KeepalivePeriod, or 0
}

// peer is one id. At most one incarnation is accepted; another one that sends is the
// challenger.
type peer struct {
	current        session // of the accepted incarnation
	accepted       bool    // there is one
	challenger     session
	lastSent       timed.Instant // directly or through others
	lastSentDirect timed.Instant
	aliveUntil     timed.Instant
	indirectUntil  timed.Instant // aliveUntil by messages that others passed on
	standing       standing
}

// accept accepts the incarnation of h and forgets everything about an earlier one:
// its clock, its hearing and its packets.
func (s *Service) accept(p *peer, h *Header) {
	if p.challenger.boot == h.Boot {
		p.current = p.challenger
	} else {
		p.current = session{boot: h.Boot}
	}
	p.challenger = session{}
	p.accepted = true
	s.notAlive(p, h.Source)
}

// challenge notes a packet of an incarnation that is not accepted, so that it can be
// echoed and, once it proves that it hears this node now, accepted.
func (p *peer) challenge(received timed.Instant, h *Header, rho timed.Drift) {
	c := &p.challenger
	if c.boot != h.Boot {
		*c = session{boot: h.Boot}
	}
	if pair := (Pair{h.Stamp, received}); c.latest == 0 || pair.better(c.best, rho) {
		c.best = pair
	}
	c.latest, c.lastSeen, c.proven = timed.Later(c.latest, h.Stamp), received, true
}

// stillHeard reports whether a fast packet of the accepted incarnation came within
// expires. Until then no other incarnation takes its place.
func (s *Service) stillHeard(now timed.Instant, p *peer) bool {
	return p.accepted && p.current.hasFast && now.Sub(p.current.lastFast) <= s.cfg.Timing.Expires
}

// learnHelper keeps the better of two echoed pairs and reports whether it is new.
func (c *session) learnHelper(h Pair, rho timed.Drift) bool {
	if c.hasHelper && !h.better(c.helper, rho) {
		return false
	}
	c.helper, c.hasHelper = h, true
	return true
}

// learnBest keeps the better of two pairs to echo and reports whether it is new.
func (c *session) learnBest(h Pair, proven bool, rho timed.Drift) bool {
	if c.proven && (!proven || !h.better(c.best, rho)) {
		return false
	}
	c.best, c.proven = h, proven
	return proven
}
