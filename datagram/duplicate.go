package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// duplicate detects that another process uses this node's id. Peers then refuse one of
// the two incarnations and report this with a fresh echo.
type duplicate struct {
	by    timed.Set    // peers whose last answer was a refusal
	rival timed.BootID // the incarnation that prevails
	since timed.Instant
}

// standing is how a peer treats this incarnation.
type standing struct {
	toldAt     timed.Instant // when its last refusal came, whether it counts or not
	refusedAt  timed.Instant // when it last refused this incarnation, as far as that counts
	rival      timed.BootID  // in whose favour
	acceptedAt timed.Instant // when it last accepted our packets
}

// Refusal is a peer's report that another incarnation uses this node's id.
type Refusal struct {
	Rival timed.BootID
	// Echoed is the stamp of this node's packet that the peer refuses.
	Echoed timed.Instant
	// Age is how long before its report the peer received a fast packet of Rival, or
	// [Unknown] if it does not say so.
	Age time.Duration
}

// NoteRefusal notes a peer's refusal. It does not count if it refuses an old packet, or if
// this node, with its own Expires, would not hear Rival any more: a peer with a longer one
// goes on refusing after the former incarnation has ended.
func (s *Service) NoteRefusal(now timed.Instant, from timed.NodeID, r Refusal) {
	p := s.peers[from]
	if p != nil {
		p.standing.toldAt = now
	}
	if p == nil || now.Sub(r.Echoed) > s.refusalAge() || r.Age != Unknown && r.Age > s.cfg.Timing.Expires {
		return
	}
	p.standing.refusedAt, p.standing.rival = now, r.Rival
	s.duplicate.by.Add(from)
}

// NoteAcceptance notes that a peer accepts this incarnation.
func (s *Service) NoteAcceptance(now timed.Instant, from timed.NodeID) {
	if p := s.peers[from]; p != nil {
		p.standing.acceptedAt = now
		s.duplicate.by.Remove(from)
	}
}

// Refuses reports whether a peer said last, and not long ago, that it has another incarnation
// of this node: after a restart the former one, until it has not heard that for its Expires.
func (s *Service) Refuses(now timed.Instant, id timed.NodeID) bool {
	p := s.peers[id]
	return p != nil && p.standing.toldAt > p.standing.acceptedAt && now.Sub(p.standing.toldAt) <= s.cfg.Timing.Expires
}

// refusalAge is how long a refusal counts. After a restart, peers keep the old
// incarnation for expires. A refusal may be under way for expires/2 and then counts
// for expires/2, so the refusals after a restart do not add up to those of a rival.
func (s *Service) refusalAge() time.Duration { return s.cfg.Timing.Expires / 2 }

// HandleTimeout returns the effect Duplicate if, for more than 2.5·expires, more peers
// have refused this incarnation in favour of one rival than have accepted it. On a tie,
// the larger boot id gives way. Everything else relies on unique ids.
func (s *Service) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	d := &s.duplicate
	if d.by.Empty() {
		d.since, d.rival = 0, 0
		return out
	}
	recent := s.refusalAge()
	// A node that restarts twice is refused in favour of two incarnations, one
	// after the other. Only an incarnation that stays is a rival.
	rival, against := s.prevailing(now, recent)
	pro := 0
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		if accepted := s.peers[id].standing.acceptedAt; !d.by.Has(id) && accepted != 0 && now.Sub(accepted) <= recent {
			pro++
		}
	}
	if against < pro || against == 0 || (against == pro && s.cfg.Self.Boot < rival) {
		d.since, d.rival = 0, 0
		return out
	}
	if d.since == 0 || d.rival != rival {
		d.since, d.rival = now, rival
	}
	if now.Sub(d.since) <= 2*s.cfg.Timing.Expires+recent {
		return out
	}
	return append(out, Effect{Kind: Duplicate, From: timed.Incarnation{Node: s.cfg.Self.Node, Boot: rival}})
}

// prevailing returns the incarnation that most of the recent refusals name, and the
// number of these refusals. On a tie it returns the smaller boot id.
func (s *Service) prevailing(now timed.Instant, recent time.Duration) (rival timed.BootID, votes int) {
	by := s.duplicate.by
	for id := by.Next(0); id != 0; id = by.Next(id) {
		w := &s.peers[id].standing
		if now.Sub(w.refusedAt) > recent {
			continue
		}
		n := 0
		for o := by.Next(0); o != 0; o = by.Next(o) {
			if v := &s.peers[o].standing; v.rival == w.rival && now.Sub(v.refusedAt) <= recent {
				n++
			}
		}
		if n > votes || (n == votes && w.rival < rival) {
			rival, votes = w.rival, n
		}
	}
	return rival, votes
}
