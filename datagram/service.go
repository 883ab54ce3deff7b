package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Config is what a [Service] needs to know.
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing
}

// Service keeps, for every peer, what bounds the delays of its packets, whether
// it is alive, and what to echo to it. It is a pure machine for one goroutine.
type Service struct {
	cfg        Config
	leastDelay time.Duration // what any clock shows of MinDelay at least
	ready      bool
	peers      [timed.MaxNodes + 1]*peer
	known      timed.Set // the ids that have an entry in peers

	alive      timed.Set
	nextExpiry timed.Instant // no peer leaves alive before this
	nextBeat   timed.Instant // no keepalive is due before this

	claim doubleClaim
}

// seat is what is known of one incarnation of a peer.
type seat struct {
	boot     timed.BootID
	echo     Pair          // best helper of the peer's packets, to be echoed to it
	latest   timed.Instant // its newest stamp
	seen     timed.Instant // when its last packet came
	lastFast timed.Instant // when we last received a fast packet of it
	heardBy  timed.Instant // its stamp of the packet that set aliveUntil
	hasFast  bool
	direct   timed.Instant // when its last fast packet came, while lastFast may be by way of others
	helper   Pair          // best helper of our packets, as the peer echoed it
	hasHelp  bool
	fault    bool // evidence that one of the two clocks broke ρ, or of twins
	twins    bool // two processes send as this incarnation
	ledger   ledger
	last     Delay
}

// peer is one id. At most one incarnation holds the seat; another one that
// claims it waits as the challenger.
type peer struct {
	seat       seat
	accepted   bool
	challenger seat
	lastSent   timed.Instant
	lastDirect timed.Instant // lastSent, but for what went by way of others
	aliveUntil timed.Instant
	around     timed.Instant // aliveUntil by what came by way of others
	word       word          // about this node's id
}

// Verdict says what became of a packet.
type Verdict uint8

const (
	// Dropped: the packet is of no use, and nothing follows from it.
	Dropped Verdict = iota
	// Challenged: the packet's incarnation is not accepted (yet). It is to be
	// echoed, but nothing in it counts.
	Challenged
	// Delivered: the packet is of the accepted incarnation.
	Delivered
	// Accepted: as Delivered, and the incarnation took its seat just now:
	// whatever is known of an earlier one must be forgotten.
	Accepted
	// Faulty: the packet proves that one of the two clocks broke ρ. Nothing
	// in it counts.
	Faulty
	// Twin: the packet proves that two processes send as its incarnation.
	// Nothing in it counts, nor in what comes after it.
	Twin
)

// New returns the service of one incarnation, not ready, started at now.
func New(cfg Config, now timed.Instant) *Service {
	return &Service{cfg: cfg, leastDelay: cfg.Timing.MaxDrift.Lower(cfg.Timing.MinDelay), nextExpiry: timed.Never, nextBeat: now, claim: doubleClaim{self: cfg.Self.Boot}}
}

// AddPeer makes a peer known, so that keepalives go to it.
func (s *Service) AddPeer(id timed.NodeID, now timed.Instant) {
	if id == s.cfg.Self.Node || !id.Valid() || s.peers[id] != nil {
		return
	}
	s.peers[id] = &peer{lastSent: now.Add(-s.cfg.Timing.KeepalivePeriod)}
	s.known.Add(id)
	s.nextBeat = timed.Earlier(s.nextBeat, now)
}

// RemovePeer forgets a peer and everything known of it.
func (s *Service) RemovePeer(id timed.NodeID) {
	s.peers[id] = nil
	s.known.Remove(id)
	s.alive.Remove(id)
	s.claim.by.Remove(id)
}

// Peers returns the known peers.
func (s *Service) Peers() timed.Set { return s.known }

// SetReady says that this node may vote. Until then its echoes say that it
// hears nobody, so that nobody counts on it (model: "Ready").
func (s *Service) SetReady() { s.ready = true }

// HandlePacket takes the header of a packet received when the local clock
// showed r, and returns the delay bound and what to do with the packet.
func (s *Service) HandlePacket(r timed.Instant, h *Header) (Delay, Verdict) {
	p := s.peers[h.Source]
	if p == nil || h.Boot == 0 || h.Source == s.cfg.Self.Node {
		return Delay{Bound: Unknown}, Dropped
	}
	fresh := h.Echo.Boot == s.cfg.Self.Boot && h.Echo.Latest <= r &&
		r.Sub(h.Echo.Latest) <= s.cfg.Timing.Expires
	verdict := Delivered
	if !p.accepted || p.seat.boot != h.Boot {
		if !fresh || s.holds(p, r) {
			p.challenge(r, h, s.cfg.Timing.MaxDrift)
			return Delay{Bound: Unknown}, Challenged
		}
		s.accept(p, h)
		verdict = Accepted
	}
	st := &p.seat
	if st.ledger.clash(h) && !st.twins {
		st.fault, st.twins = true, true
		s.bury(p, h.Source)
		return Delay{Bound: Unknown}, Twin
	}
	learnt := false
	if h.Echo.Boot == s.cfg.Self.Boot && h.Echo.Sent <= r {
		learnt = s.learnHelper(st, Pair{h.Echo.Sent, h.Echo.Received})
	}
	d := s.delay(st, h.Stamp, r)
	learnt = s.learnEcho(st, Pair{h.Stamp, r}) || learnt
	st.latest, st.seen = timed.Later(st.latest, h.Stamp), r
	if st.fault { // said once, and for good: only another incarnation mends it
		return Delay{Bound: d.Bound}, Dropped
	}
	if s.disproved(st, d, learnt, r) {
		st.fault = true
		s.bury(p, h.Source)
		return Delay{Bound: d.Bound}, Faulty
	}
	st.last = d
	if d.Fast {
		s.hear(p, h, r)
	}
	return d, verdict
}

// delay computes the bound of a packet stamped sent and received at r.
func (s *Service) delay(st *seat, sent, r timed.Instant) Delay {
	if !st.hasHelp {
		return Delay{Bound: Unknown}
	}
	rho := s.cfg.Timing.MaxDrift
	ub := bound(st.helper, sent, r, rho, s.cfg.Timing.MinDelay)
	return Delay{Bound: ub, Fast: ub <= s.cfg.Timing.FastThreshold && ub >= s.cfg.Timing.MinDelay}
}

// disproved reports evidence that one of the two clocks is not within ρ: a
// bound below δmin, or an empty offset interval. Intervals only widen with time,
// so an empty one shows when a pair is learnt.
func (s *Service) disproved(st *seat, d Delay, learnt bool, now timed.Instant) bool {
	if d.Bound == Unknown {
		return false
	}
	if d.Bound < s.cfg.Timing.MinDelay {
		return true
	}
	if !learnt {
		return false
	}
	lo, hi := s.offset(st, now)
	return lo > hi
}

// accept gives the seat to the incarnation of h. What was known of an earlier
// one, its clock, its hearing and its packets, goes with it.
func (s *Service) accept(p *peer, h *Header) {
	if p.challenger.boot == h.Boot {
		p.seat = p.challenger
	} else {
		p.seat = seat{boot: h.Boot}
	}
	p.challenger = seat{}
	p.accepted = true
	s.bury(p, h.Source)
}

// bury takes a peer out of the alive set.
func (s *Service) bury(p *peer, id timed.NodeID) {
	p.aliveUntil, p.around = 0, 0
	p.seat.hasFast = false
	s.alive.Remove(id)
}

// learnHelper keeps the better of two echoed pairs, and reports whether it is
// the new one.
func (s *Service) learnHelper(st *seat, h Pair) bool {
	if st.hasHelp && !h.better(st.helper, s.cfg.Timing.MaxDrift) {
		return false
	}
	st.helper, st.hasHelp = h, true
	return true
}

// learnEcho keeps the better of two pairs to echo, and reports whether it is
// the new one.
func (s *Service) learnEcho(st *seat, h Pair) bool {
	if st.latest != 0 && !h.better(st.echo, s.cfg.Timing.MaxDrift) {
		return false
	}
	st.echo = h
	return true
}

// challenge notes a packet of an incarnation that does not hold the seat, so
// that it can be echoed and, once it proves that it hears us now, accepted.
func (p *peer) challenge(r timed.Instant, h *Header, rho timed.Drift) {
	c := &p.challenger
	if c.boot != h.Boot {
		*c = seat{boot: h.Boot}
	}
	if pair := (Pair{h.Stamp, r}); c.latest == 0 || pair.better(c.echo, rho) {
		c.echo = pair
	}
	c.latest, c.seen = timed.Later(c.latest, h.Stamp), r
}

// holds reports whether the accepted incarnation keeps its seat at now: whether
// it has sent a fast packet within expires.
func (s *Service) holds(p *peer, now timed.Instant) bool {
	return p.accepted && p.seat.hasFast && now.Sub(p.seat.lastFast) <= s.cfg.Timing.Expires
}

// Holder returns the incarnation that keeps the seat of a peer at now, or 0.
func (s *Service) Holder(id timed.NodeID, now timed.Instant) timed.BootID {
	if p := s.peers[id]; p != nil && s.holds(p, now) {
		return p.seat.boot
	}
	return 0
}

// Boot returns the accepted incarnation of a peer, or 0.
func (s *Service) Boot(id timed.NodeID) timed.BootID {
	if p := s.peers[id]; p != nil && p.accepted {
		return p.seat.boot
	}
	return 0
}

// Newest returns the newest stamp seen of a peer's accepted incarnation, or 0.
func (s *Service) Newest(id timed.NodeID) timed.Instant {
	if p := s.peers[id]; p != nil && p.accepted {
		return p.seat.latest
	}
	return 0
}

// SentBefore returns the latest that this node's clock can have shown when the
// peer's clock showed sent, given that a packet with that stamp arrived at r:
// min(R, B + (S−A)(1+2ρ+3ρ²)) for the best pair (A, B) kept for echoing.
func (s *Service) SentBefore(id timed.NodeID, sent, r timed.Instant) timed.Instant {
	p := s.peers[id]
	if p == nil || !p.accepted || p.seat.latest == 0 || sent < p.seat.echo.Sent {
		return r
	}
	e := p.seat.echo
	return timed.Earlier(r, e.Received.Add(s.cfg.Timing.MaxDrift.Wait(sent.Sub(e.Sent))))
}

// LastDelay returns the delay of the last packet of the accepted incarnation.
func (s *Service) LastDelay(id timed.NodeID) Delay {
	if p := s.peers[id]; p != nil && p.accepted && p.seat.hasHelp {
		return p.seat.last
	}
	return Delay{Bound: Unknown}
}

// Fault reports whether a clock fault lies between this node and the peer's
// accepted incarnation.
func (s *Service) Fault(id timed.NodeID) bool {
	p := s.peers[id]
	return p != nil && p.accepted && p.seat.fault
}

// Faults returns how many of the peers that were heard within expires, fast or
// slow, are at fault with this node's clock, and how many there are.
func (s *Service) Faults(now timed.Instant) (faulty, heard int) {
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		if p := s.peers[id]; p.accepted && now.Sub(p.seat.seen) <= s.cfg.Timing.Expires {
			heard++
			if p.seat.fault && !p.seat.twins {
				faulty++
			}
		}
	}
	return faulty, heard
}

// LastFast says how old the last fast packet of a peer is; ok is false if
// there was none.
func (s *Service) LastFast(id timed.NodeID, now timed.Instant) (age time.Duration, ok bool) {
	p := s.peers[id]
	if p == nil || !p.accepted || p.seat.lastFast == 0 {
		return 0, false
	}
	return now.Sub(p.seat.lastFast), true
}
