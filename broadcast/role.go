package broadcast

// predictor predicts from the log of a view which member sends next. It is the same at all
// members, but no promise rests on that: a decision names the next decider, and naming
// the wrong one only costs time.
type predictor struct {
	last  int   // the only member in the last decision, or noMember
	after []int // for each member, the one that came after it last, or noMember
}

// noMember is the index of no member.
const noMember = -1

// begin starts anew for a view with some members.
func (h *predictor) begin(members int) {
	h.last, h.after = noMember, h.after[:0]
	for range members {
		h.after = append(h.after, noMember)
	}
}

// note takes the ranges of a decision that orders messages.
func (h *predictor) note(ranges []Range) {
	sender := alone(ranges)
	if sender != noMember && h.last != noMember {
		h.after[h.last] = sender
	}
	h.last = sender
}

// next returns the member that is likely to send after one that has just sent.
func (h *predictor) next(sender int) int {
	after := h.after[sender]
	if h.last == sender || after == noMember { // it keeps sending
		return sender
	}
	return after
}

// alone returns the only member in the ranges, or noMember.
func alone(ranges []Range) int {
	if len(ranges) > 0 && ranges[0].Member == ranges[len(ranges)-1].Member {
		return int(ranges[0].Member)
	}
	return noMember
}

// successor returns the member that issues the decision after the one with these ranges.
// It is the member that is likely to send next: its message then travels together with
// the decision that orders it, and members need not wait for the decider. If one member
// sends alone, it keeps the role. If members send in turn, because they report at fixed
// times or answer each other, the next of them gets it. While many send at the same time,
// the role rotates.
func (s *Service) successor(ranges []Range) uint8 {
	if sender := alone(ranges); sender != noMember {
		return uint8(s.predictor.next(sender))
	}
	return uint8((s.me + 1) % len(s.members))
}
