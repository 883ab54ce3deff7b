package broadcast

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

// restable computes the stable decisions from the acknowledgements.
func (s *Service) restable() {
	acks := s.scratch[:0]
	for i := range s.members {
		acks = append(acks, s.members[i].ack)
	}
	s.scratch = acks
	slices.Sort(acks)
	before := s.stable
	s.stable = [atomicities]uint64{WeakAtomicity: s.have, StrongAtomicity: s.heldByMost(acks), StrictAtomicity: acks[0]}
	for a := StrongAtomicity; a <= StrictAtomicity; a++ {
		s.stable[a] = max(s.stable[a], s.reported[a])
	}
	s.moved = s.moved || s.stable != before
}

// heldByMost returns the last decision that enough members for StrongAtomicity have,
// given their acknowledgements in ascending order: more than half of the view, and where
// the order needs a quorum, a quorum. Another view may have taken members of this one
// along, but every quorum includes one that has the messages.
func (s *Service) heldByMost(acks []uint64) uint64 {
	n := len(acks)
	most := acks[(n-1)/2] // n/2+1 have at least this
	if s.cfg.Quorum == nil || !s.quorate {
		return most
	}
	for i := (n - 1) / 2; i > 0; i-- {
		var have timed.Set
		for j := range s.members {
			if s.members[j].ack >= acks[i] {
				have.Add(s.members[j].Node)
			}
		}
		if s.cfg.Quorum.IsQuorum(have) {
			return acks[i]
		}
	}
	return acks[0]
}

// stableNow returns the stable decisions that this node announces.
func (s *Service) stableNow() [2]uint64 {
	return [2]uint64{s.stable[StrongAtomicity], s.stable[StrictAtomicity]}
}

// noteStable takes the stable decisions of another member, and reports whether they are
// news. Stability is a fact about the view. Without this, two members that do not hear
// each other would wait for each other's acknowledgements as long as the view lasts.
func (s *Service) noteStable(stable [2]uint64) bool {
	if stable[0] <= s.reported[StrongAtomicity] && stable[1] <= s.reported[StrictAtomicity] {
		return false
	}
	s.reported[StrongAtomicity], s.reported[StrictAtomicity] = max(s.reported[StrongAtomicity], stable[0]), max(s.reported[StrictAtomicity], stable[1])
	return true
}

// cover notes the Unordered ranges of stable decisions.
func (s *Service) cover() {
	for a := StrongAtomicity; a <= StrictAtomicity; a++ {
		for to := min(s.stable[a], s.have); s.covered[a] < to; {
			s.covered[a]++
			sl := s.log.at(s.covered[a])
			for i := range sl.Ranges {
				r := &sl.Ranges[i]
				if r.Class != ClassUnordered {
					continue
				}
				st := s.members[r.Member].stream(ClassUnordered)
				if a == StrongAtomicity {
					st.majority = max(st.majority, r.To)
				} else {
					st.all = max(st.all, r.To)
				}
			}
		}
	}
}

// release drops messages that all members have and this one has delivered.
func (s *Service) release() {
	limit := min(s.stable[StrictAtomicity], s.have)
	for s.released < min(limit, s.cursor.next-1) {
		sl := s.log.at(s.released + 1)
		if sl.left > 0 {
			return
		}
		for i := range sl.Ranges {
			r := &sl.Ranges[i]
			if r.Class == ClassUnordered && s.members[r.Member].stream(r.Class).delivered < r.To {
				return
			}
		}
		for i := range sl.Ranges {
			r := &sl.Ranges[i]
			s.members[r.Member].stream(r.Class).drop(&s.arena, r.To)
		}
		sl.held = false
		s.released++
	}
}
