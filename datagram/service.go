package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Config configures a [Service].
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing
}

// Service keeps for every peer the evidence that bounds the delays of its packets, its
// liveness, and its echo. It is a pure machine for one goroutine.
type Service struct {
	cfg        Config
	leastDelay time.Duration // MinDelay on the slowest clock
	indirect   time.Duration // IndirectPeriod
	word       time.Duration // WordLasts
	ready      bool
	peers      [timed.MaxNodes + 1]*peer
	known      timed.Set // the ids that have an entry in peers

	alive         timed.Set
	nextExpiry    timed.Instant // no peer leaves alive before this
	nextKeepalive timed.Instant // no keepalive is due before this

	duplicate duplicate
}

// New returns the service of one incarnation, which starts at now and is not ready.
func New(cfg Config, now timed.Instant) *Service {
	return &Service{cfg: cfg, leastDelay: cfg.Timing.MaxDrift.Lower(cfg.Timing.MinDelay), indirect: cfg.Timing.IndirectPeriod(),
		word: cfg.Timing.WordLasts(), nextExpiry: timed.Never, nextKeepalive: now}
}

// AddPeer makes a peer known, so that keepalives go to it.
func (s *Service) AddPeer(now timed.Instant, id timed.NodeID) {
	if id == s.cfg.Self.Node || !id.Valid() || s.peers[id] != nil {
		return
	}
	s.peers[id] = &peer{lastSent: now.Add(-s.cfg.Timing.KeepalivePeriod)}
	s.known.Add(id)
	s.nextKeepalive = timed.Earlier(s.nextKeepalive, now)
}

// RemovePeer forgets everything known of a peer.
func (s *Service) RemovePeer(id timed.NodeID) {
	s.peers[id] = nil
	s.known.Remove(id)
	s.alive.Remove(id)
	s.duplicate.by.Remove(id)
}

// Peers returns the known peers.
func (s *Service) Peers() timed.Set { return s.known }

// SetReady says that this node may vote. Until then its echoes say that it hears no
// peer, so that no peer counts on it.
func (s *Service) SetReady() { s.ready = true }

// HandlePacket takes the header of a packet received when the local clock showed
// received. Its first effect is the verdict on the packet. A second one is Rival.
func (s *Service) HandlePacket(received timed.Instant, h *Header, out []Effect) []Effect {
	out = append(out, Effect{})
	e := &out[len(out)-1]
	e.From.Node, e.From.Boot = h.Source, h.Boot
	e.Kind, e.Delay = s.classify(received, h)
	if e.Kind == Challenged && s.noteRival(received, s.peers[h.Source], h) {
		out = append(out, Effect{Kind: Rival, From: e.From})
	}
	return out
}

// classify evaluates the header of a packet and bounds the packet's delay.
func (s *Service) classify(received timed.Instant, h *Header) (Kind, Delay) {
	p := s.peers[h.Source]
	if p == nil || h.Boot == 0 || h.Source == s.cfg.Self.Node {
		return Dropped, Delay{Bound: Unknown}
	}
	fresh := h.Echo.Boot == s.cfg.Self.Boot && h.Echo.Latest <= received &&
		received.Sub(h.Echo.Latest) <= s.cfg.Timing.Expires
	kind := Delivered
	if !p.accepted || p.current.boot != h.Boot {
		if !fresh || s.stillHeard(received, p) {
			p.challenge(received, h, s.cfg.Timing.MaxDrift)
			return Challenged, Delay{Bound: Unknown}
		}
		s.accept(p, h)
		kind = Accepted
	}
	c, rho := &p.current, s.cfg.Timing.MaxDrift
	c.reunite(received)
	if c.recent.conflict(h) && !c.twins {
		return s.doubt(received, p, h.Source), Delay{Bound: Unknown}
	}
	echoed := h.Echo.Boot == s.cfg.Self.Boot
	if echoed && h.Echo.Heard == Distrusted && h.Stamp >= c.latest && s.hearDistrust(received, p, h.Source) {
		c.latest, c.lastSeen = h.Stamp, received
		c.learnBest(Pair{h.Stamp, received}, false, rho)
		return Faulty, Delay{Bound: Unknown}
	}
	learnt, later := false, s.later(c, h)
	if echoed && h.Echo.Sent <= received && h.Echo.Sent >= c.since {
		learnt = c.learnHelper(Pair{h.Echo.Sent, h.Echo.Received}, rho)
	}
	d := s.delay(c, h.Stamp, received)
	if !later {
		d = Delay{Bound: Unknown} // its stamp may be from before the fault
	}
	learnt = c.learnBest(Pair{h.Stamp, received}, later, rho) || learnt
	c.latest, c.lastSeen = timed.Later(c.latest, h.Stamp), timed.Later(c.lastSeen, received)
	if s.disproved(received, c, d, learnt) {
		return s.distrust(received, p, h.Source), Delay{Bound: d.Bound}
	}
	if c.fault {
		return Dropped, Delay{Bound: d.Bound}
	}
	d.Bound = max(d.Bound, s.cfg.Timing.MinDelay) // a coarse clock can make it less
	c.lastDelay = d
	if d.Fast {
		s.noteFast(received, p, h)
	}
	return kind, d
}

// delay returns the delay of a packet with the stamp sent.
func (s *Service) delay(c *session, sent, received timed.Instant) Delay {
	if !c.hasHelper {
		return Delay{Bound: Unknown}
	}
	rho := s.cfg.Timing.MaxDrift
	ub := bound(c.helper, sent, received, rho, s.cfg.Timing.MinDelay)
	return Delay{Bound: ub, Fast: ub <= s.cfg.Timing.FastThreshold}
}

// disproved reports evidence that one of the two clocks is not within ρ: a bound
// below δmin, or an empty offset interval, by more than granularity can cause. Intervals
// only widen with time, so an empty one shows when a pair is learnt.
func (s *Service) disproved(now timed.Instant, c *session, d Delay, learnt bool) bool {
	if d.Bound == Unknown {
		return false
	}
	if d.Bound < s.cfg.Timing.MinDelay-steps {
		return true
	}
	if !learnt || !c.proven {
		return false
	}
	lo, hi := s.offset(now, c)
	return lo > hi+steps
}

// Incumbent returns the accepted incarnation of a peer if a fast packet of it came
// within expires, and how long ago the last one came. Otherwise it returns 0.
func (s *Service) Incumbent(now timed.Instant, id timed.NodeID) (boot timed.BootID, age time.Duration) {
	if p := s.peers[id]; p != nil && s.stillHeard(now, p) {
		return p.current.boot, max(now.Sub(p.current.lastFast), 0)
	}
	return 0, 0
}

// Boot returns the accepted incarnation of a peer, or 0.
func (s *Service) Boot(id timed.NodeID) timed.BootID {
	if p := s.peers[id]; p != nil && p.accepted {
		return p.current.boot
	}
	return 0
}

// Newest returns the newest stamp of a peer's accepted incarnation, or 0.
func (s *Service) Newest(id timed.NodeID) timed.Instant {
	if p := s.peers[id]; p != nil && p.accepted {
		return p.current.latest
	}
	return 0
}

// SentBefore returns the latest reading of this node's clock when the peer's clock
// showed sent, given that a packet with that stamp came at received: min(R, B +
// (S−A)(1+2ρ+3ρ²)) for the best pair (A, B) kept for echoing.
func (s *Service) SentBefore(received timed.Instant, id timed.NodeID, sent timed.Instant) timed.Instant {
	p := s.peers[id]
	if p == nil || !p.accepted || !p.current.proven || sent < p.current.best.Sent {
		return received
	}
	e := p.current.best
	return timed.Earlier(received, e.Received.Add(s.cfg.Timing.MaxDrift.Wait(sent.Sub(e.Sent))))
}

// LastDelay returns the delay of the last packet of the accepted incarnation.
func (s *Service) LastDelay(id timed.NodeID) Delay {
	if p := s.peers[id]; p != nil && p.accepted && p.current.hasHelper {
		return p.current.lastDelay
	}
	return Delay{Bound: Unknown}
}

// Fault reports whether a clock fault separates this node and the peer's accepted
// incarnation now.
func (s *Service) Fault(id timed.NodeID) bool {
	p := s.peers[id]
	return p != nil && p.accepted && p.current.fault
}

// Faults returns how many peers were heard within expires, fast or slow, and how many
// of these have had a clock fault with this node within the last hour.
func (s *Service) Faults(now timed.Instant) (faulty, heard int) {
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		if p := s.peers[id]; p.accepted && now.Sub(p.current.lastSeen) <= s.cfg.Timing.Expires {
			heard++
			if p.current.count > 0 && !p.current.twins && now.Sub(p.current.found) <= evidenceLasts {
				faulty++
			}
		}
	}
	return faulty, heard
}

// LastFast returns the age of the last fast packet of a peer; ok is false if there
// was none.
func (s *Service) LastFast(now timed.Instant, id timed.NodeID) (age time.Duration, ok bool) {
	p := s.peers[id]
	if p == nil || !p.accepted || p.current.lastFast == 0 {
		return 0, false
	}
	return now.Sub(p.current.lastFast), true
}
