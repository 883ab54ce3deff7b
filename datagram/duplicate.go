package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// doubleClaim notices that another process uses this node's id: peers refuse
// one of the two incarnations, and say so with a fresh echo.
type doubleClaim struct {
	self  timed.BootID
	by    timed.Set    // who refused last
	rival timed.BootID // who prevails, and since when
	since timed.Instant
}

// word is what a peer said about this node's id.
type word struct {
	refused timed.Instant // when it last refused us
	holder  timed.BootID  // in whose favour
	taken   timed.Instant // when it last took our packets
}

// Refused notes that a peer said that this id is in use by another incarnation.
// latest is the stamp of ours that the peer echoed: a late word does not count.
func (s *Service) Refused(from timed.NodeID, rival timed.BootID, latest, now timed.Instant) {
	p := s.peers[from]
	if p == nil || now.Sub(latest) > s.refusalAge() {
		return
	}
	p.word.refused, p.word.holder = now, rival
	s.claim.by.Add(from)
}

// Taken notes that a peer accepts this incarnation.
func (s *Service) Taken(from timed.NodeID, now timed.Instant) {
	if p := s.peers[from]; p != nil {
		p.word.taken = now
		s.claim.by.Remove(from)
	}
}

// refusalAge is for how long a refusal counts. After a restart, peers keep the
// old incarnation's seat for expires: a refusal that was up to expires/2 under
// way, and counts for expires/2, must not add up to what a rival does.
func (s *Service) refusalAge() time.Duration { return s.cfg.Timing.Expires / 2 }

// Duplicate reports that for more than 2·expires those that refuse this
// incarnation in favour of one rival have outnumbered those that accept it (on
// a tie, the larger boot id gives way), and names the rival. The node must stop:
// ids are unique in everything else.
func (s *Service) Duplicate(now timed.Instant) (rival timed.BootID, stop bool) {
	d := &s.claim
	if d.by.Empty() {
		d.since, d.rival = 0, 0
		return 0, false
	}
	recent := s.refusalAge()
	// A node that restarts twice is refused for the sake of two incarnations,
	// one after the other: only one that stays is a rival.
	rival, against := s.prevailing(now, recent)
	pro := 0
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		if taken := s.peers[id].word.taken; !d.by.Has(id) && taken != 0 && now.Sub(taken) <= recent {
			pro++
		}
	}
	if against < pro || against == 0 || (against == pro && d.self < rival) {
		d.since, d.rival = 0, 0
		return 0, false
	}
	if d.since == 0 || d.rival != rival {
		d.since, d.rival = now, rival
	}
	return rival, now.Sub(d.since) > 2*s.cfg.Timing.Expires+recent
}

// prevailing returns the incarnation that most of the recent refusals name; on
// a tie the smaller boot id.
func (s *Service) prevailing(now timed.Instant, recent time.Duration) (rival timed.BootID, votes int) {
	by := s.claim.by
	for id := by.Next(0); id != 0; id = by.Next(id) {
		w := &s.peers[id].word
		if now.Sub(w.refused) > recent {
			continue
		}
		n := 0
		for o := by.Next(0); o != 0; o = by.Next(o) {
			if v := &s.peers[o].word; v.holder == w.holder && now.Sub(v.refused) <= recent {
				n++
			}
		}
		if n > votes || (n == votes && w.holder < rival) {
			rival, votes = w.holder, n
		}
	}
	return rival, votes
}
