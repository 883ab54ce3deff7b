package broadcast

import "github.com/failaware/failaware/timed"

// HandleEnd returns what this node has acknowledged and not delivered when its incarnation ends,
// in the order of the log. Another member may have delivered any of it as Strict, because
// all have it, so a state that goes on without it would lack what others rely on. It
// depends on the log alone and is the beginning of what the others deliver, if the view
// has more. The Service must not be used any more, except to give back loans.
func (s *Service) HandleEnd(_ timed.Instant, out []Effect) []Effect {
	if s.view == nil {
		return out
	}
	from := len(s.deliveries)
	s.deliverOrdered(true)
	if from == len(s.deliveries) {
		return out
	}
	return append(out, Effect{Kind: Remains, View: s.view, Deliveries: s.deliveries[from:]})
}

// Ordered returns how far the ordered messages of each node were delivered to the
// application, after HandleEnd.
func (s *Service) Ordered() []Mark {
	s.updateMarks()
	return s.marks[ClassOrdered].list()
}

// RecallOrdered takes what Ordered returned in an earlier incarnation whose state the
// application keeps, or what it has with that state on a disk. None of those messages is
// ordered again where this node is a member: they are in its state. It reports false, and
// does nothing, if this incarnation has said before what it knows.
func (s *Service) RecallOrdered(marks []Mark) bool {
	if s.view != nil || s.freeze.on {
		return false
	}
	s.marks[ClassOrdered].add(marks)
	return true
}
