package broadcast

// habit is what the log of a view tells of who sends after whom. It is the same at
// all members, but nothing rests on that: a decision names the next decider, and
// to name the wrong one costs time only.
type habit struct {
	last  int   // the member whose messages alone the last decision ordered, or nobody
	after []int // of each member, who came after it the last time, or nobody
}

const nobody = -1

// begin forgets everything, for a view of some members.
func (h *habit) begin(members int) {
	h.last, h.after = nobody, h.after[:0]
	for range members {
		h.after = append(h.after, nobody)
	}
}

// note takes the ranges of a decision that orders something.
func (h *habit) note(ranges []Range) {
	who := alone(ranges)
	if who != nobody && h.last != nobody {
		h.after[h.last] = who
	}
	h.last = who
}

// next returns who is likely to send after a member that has just sent.
func (h *habit) next(who int) int {
	after := h.after[who]
	if h.last == who || after == nobody { // it sends again and again
		return who
	}
	return after
}

// alone returns the member whose messages alone are in the ranges, or nobody.
func alone(ranges []Range) int {
	if len(ranges) > 0 && ranges[0].Member == ranges[len(ranges)-1].Member {
		return int(ranges[0].Member)
	}
	return nobody
}

// successor returns who is to issue the decision after the one with these ranges:
// who is likely to send next, because its message then travels together with
// the decision that orders it, which spares members a wait for the decider. That is
// who alone sends; where members speak in turn, as those do that report at fixed
// times or answer each other, it is the next of them. While
// many send at a time, the role goes round.
func (s *Service) successor(ranges []Range) uint8 {
	if who := alone(ranges); who != nobody {
		return uint8(s.habit.next(who))
	}
	return uint8((s.me + 1) % len(s.members))
}
