package broadcast

import "slices"

// restable computes from the acknowledgements which decisions are stable.
func (s *Service) restable() {
	acks := s.scratch[:0]
	for i := range s.members {
		acks = append(acks, s.members[i].ack)
	}
	s.scratch = acks
	slices.Sort(acks)
	n := len(acks)
	before := s.stable
	s.stable = [Strict + 1]uint64{Weak: s.have, Strong: acks[(n-1)/2], Strict: acks[0]} // n/2+1 have at least acks[(n-1)/2]
	for a := Strong; a <= Strict; a++ {
		s.stable[a] = max(s.stable[a], s.heard[a])
	}
	s.moved = s.moved || s.stable != before
}

// stableSaid returns what this node says about stability.
func (s *Service) stableSaid() [2]uint64 { return [2]uint64{s.stable[Strong], s.stable[Strict]} }

// hear takes what another member knows of stability. It is no opinion but a fact
// about the view; without it, two members that do not hear each other would wait
// for each other's acknowledgements for as long as the view lasts.
func (s *Service) hear(stable [2]uint64) bool {
	if stable[0] <= s.heard[Strong] && stable[1] <= s.heard[Strict] {
		return false
	}
	s.heard[Strong], s.heard[Strict] = max(s.heard[Strong], stable[0]), max(s.heard[Strict], stable[1])
	return true
}

// cover takes notice of the Unordered ranges of stable decisions.
func (s *Service) cover() {
	for a := Strong; a <= Strict; a++ {
		for to := min(s.stable[a], s.have); s.covered[a] < to; {
			s.covered[a]++
			sl := s.log.at(s.covered[a])
			for i := range sl.Ranges {
				r := &sl.Ranges[i]
				if r.Class != ClassUnordered {
					continue
				}
				st := s.members[r.Member].stream(ClassUnordered)
				if a == Strong {
					st.majority = max(st.majority, r.To)
				} else {
					st.all = max(st.all, r.To)
				}
			}
		}
	}
}

// release lets go of what all members have and this one has delivered.
func (s *Service) release() {
	limit := min(s.stable[Strict], s.have)
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
