package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// doubleClaim notices that another process uses this node's id: peers refuse
// one of the two incarnations, and say so with a fresh echo.
type doubleClaim struct {
	self    timed.BootID
	refused [timed.MaxNodes + 1]timed.Instant // when a peer last refused us
	holder  [timed.MaxNodes + 1]timed.BootID  // in whose favour
	taken   [timed.MaxNodes + 1]timed.Instant // when a peer last took our packets
	by      timed.Set                         // who refused last
	rival   timed.BootID                      // who prevails, and since when
	since   timed.Instant
}

// Refused notes that a peer said that this id is in use by another incarnation.
// latest is the stamp of ours that the peer echoed: a late word does not count.
func (s *Service) Refused(from timed.NodeID, rival timed.BootID, latest, now timed.Instant) {
	if now.Sub(latest) > s.refusalAge() {
		return
	}
	s.asks.refused[from], s.asks.holder[from] = now, rival
	s.asks.by.Add(from)
}

// Taken notes that a peer accepts this incarnation.
func (s *Service) Taken(from timed.NodeID, now timed.Instant) {
	s.asks.taken[from] = now
	s.asks.by.Remove(from)
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
	d := &s.asks
	if d.by.Empty() {
		d.since, d.rival = 0, 0
		return 0, false
	}
	recent := s.refusalAge()
	// A node that restarts twice is refused for the sake of two incarnations,
	// one after the other: only one that stays is a rival.
	rival, against := d.prevailing(now, recent)
	pro := 0
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		if !d.by.Has(id) && d.taken[id] != 0 && now.Sub(d.taken[id]) <= recent {
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
func (d *doubleClaim) prevailing(now timed.Instant, recent time.Duration) (rival timed.BootID, votes int) {
	for id := d.by.Next(0); id != 0; id = d.by.Next(id) {
		if now.Sub(d.refused[id]) > recent {
			continue
		}
		n := 0
		for o := d.by.Next(0); o != 0; o = d.by.Next(o) {
			if d.holder[o] == d.holder[id] && now.Sub(d.refused[o]) <= recent {
				n++
			}
		}
		if n > votes || (n == votes && d.holder[id] < rival) {
			rival, votes = d.holder[id], n
		}
	}
	return rival, votes
}
