package lab

import (
	"fmt"
	"time"
)

func uniqueness(v *observation) (bool, error) {
	if v.leaders.len() > 1 {
		return true, fmt.Errorf("%v lead at once", v.leaders.set())
	}
	return v.leaders != 0, nil
}

// calmMajority is the premise of Nerio's promises after its stabilization time: the
// running processes are a majority, and all connected.
func calmMajority(v *observation) bool { return v.g.whole() && v.ranking.quorum(v.g.up.set()) }

func eventual(v *observation) (bool, error) {
	if !calmMajority(v) {
		return false, nil
	}
	if v.leaders == 0 {
		return true, fmt.Errorf("nobody leads %v after connectivity became still", v.now-v.still)
	}
	return true, nil
}

// stability is Leader Stability.
type stability struct {
	still   time.Duration
	leaders mask
}

func (s *stability) look(v *observation) (bool, error) {
	if !v.stable() || !calmMajority(v) {
		s.leaders = 0
		return false, nil
	}
	if gone := s.leaders &^ v.leaders; s.still == v.still && gone != 0 {
		return true, fmt.Errorf("%v does not lead any more, %v after connectivity became still", gone.set(), v.now-v.still)
	}
	s.still, s.leaders = v.still, v.leaders
	return v.leaders != 0, nil
}

func (s *stability) close(v *observation) (bool, error) { return s.look(v) }
