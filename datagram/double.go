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
	taken   [timed.MaxNodes + 1]timed.Instant // when a peer last took our packets
	rival   timed.BootID
	since   timed.Instant
	by      timed.Set
}

// Refused notes that a peer, with a fresh echo, said that this id is in use by
// another incarnation.
func (s *Service) Refused(from timed.NodeID, rival timed.BootID, now timed.Instant) {
	s.asks.refused[from] = now
	s.asks.rival = rival
	s.asks.by.Add(from)
}

// Taken notes that a peer accepts this incarnation.
func (s *Service) Taken(from timed.NodeID, now timed.Instant) {
	s.asks.taken[from] = now
	s.asks.by.Remove(from)
}

// Duplicate reports that for 2·expires those that refuse this incarnation have
// outnumbered those that accept it (on a tie, the larger boot id gives way), and
// names the rival. The node must stop: ids are unique in everything else.
func (s *Service) Duplicate(now timed.Instant) (rival timed.BootID, stop bool) {
	d := &s.asks
	if d.by.Empty() {
		d.since = 0
		return 0, false
	}
	recent := 2 * s.cfg.Timing.Expires
	var against, pro int
	for id := s.known.Next(0); id != 0; id = s.known.Next(id) {
		if d.refused[id] != 0 && d.refused[id] >= d.taken[id] && within(now, d.refused[id], recent) {
			against++
		} else if d.taken[id] != 0 && within(now, d.taken[id], recent) {
			pro++
		}
	}
	if against < pro || against == 0 || (against == pro && d.self < d.rival) {
		d.since = 0
		return 0, false
	}
	if d.since == 0 {
		d.since = now
	}
	return d.rival, now.Sub(d.since) >= recent
}

func within(now, then timed.Instant, d time.Duration) bool { return now.Sub(then) <= d }
