package lab

import (
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// state has the claims of all processes at one instant of true time.
type state struct {
	elected [MaxProcesses + 1]timed.NodeID
	group   [MaxProcesses + 1]Group
	support [MaxProcesses + 1]mask // of leaders that count votes
	normal  mask
	leaders mask
	up      mask
	life    [MaxProcesses + 1]timed.BootID
	born    [MaxProcesses + 1]time.Duration // when that life began
}

// terms are the true times at which claims end by themselves.
type terms struct {
	vote, lead [MaxProcesses + 1]time.Duration
}

// take records the claim of one process, with the true times of its ends. It reports whether
// anything else has changed.
func (s *state) take(n *sim.Node, c *Claim, now, vote, lead time.Duration, t *terms) bool {
	id := n.ID()
	b := bit(id)
	old := [3]mask{s.normal & b, s.leaders & b, s.up & b}
	elected, group, support, life := s.elected[id], s.group[id], s.support[id], s.life[id]
	s.normal, s.leaders, s.up = s.normal&^b, s.leaders&^b, s.up&^b
	s.elected[id], s.group[id], s.support[id], s.life[id] = 0, Group{}, 0, 0
	if n.Up() {
		s.up |= b
		s.elected[id], s.group[id], s.life[id] = c.Elected, c.Group, n.Incarnation().Boot
		if life != s.life[id] {
			s.born[id] = now
		}
		if c.Normal {
			s.normal |= b
		}
		if c.Leads {
			s.leaders |= b
			s.support[id] = maskOf(c.Support)
		}
		t.vote[id], t.lead[id] = vote, lead
	}
	return old != [3]mask{s.normal & b, s.leaders & b, s.up & b} || elected != s.elected[id] || group != s.group[id] ||
		support != s.support[id] || life != s.life[id]
}

// expire ends the claims that have expired by now. It reports whether there was one.
func (s *state) expire(t *terms, now time.Duration) (changed bool) {
	for id := range s.up.all() {
		if s.leaders.has(id) && t.lead[id] <= now {
			s.leaders &^= bit(id)
			s.support[id], changed = 0, true
		}
		if s.elected[id] != 0 && t.vote[id] <= now {
			s.elected[id], s.group[id], s.normal, changed = 0, Group{}, s.normal&^bit(id), true
		}
	}
	return changed
}

// ends returns when the next claim ends by itself.
func (s *state) ends(t *terms) time.Duration {
	end := sim.Never
	for id := range s.up.all() {
		if s.leaders.has(id) {
			end = min(end, t.lead[id])
		}
		if s.elected[id] != 0 {
			end = min(end, t.vote[id])
		}
	}
	return end
}

// led reports whether a process has a leader that leads.
func (s *state) led(id timed.NodeID) bool {
	return s.elected[id] != 0 && s.leaders.has(s.elected[id])
}

// followers returns the supporters of a leader: the voters that it counts on, or the
// processes that accept it.
func (s *state) followers(p timed.NodeID) mask {
	if s.support[p] != 0 {
		return s.support[p]
	}
	var m mask
	for id := range s.up.all() {
		if s.elected[id] == p {
			m |= bit(id)
		}
	}
	return m
}

// agreed reports whether every running process is led by one that it can reach,
// and no two leaders are connected.
func (s *state) agreed(g *graph) bool {
	for id := range s.up.all() {
		if !s.led(id) || !g.reach(id).has(s.elected[id]) {
			return false
		}
	}
	return s.rivals(g) == 0 && s.up != 0
}

// rivals returns the leaders that are connected with another leader.
func (s *state) rivals(g *graph) (m mask) {
	if s.leaders&(s.leaders-1) == 0 {
		return 0
	}
	for p := range s.leaders.all() {
		m |= s.leaders & g.of(p) &^ bit(p)
	}
	return m
}
