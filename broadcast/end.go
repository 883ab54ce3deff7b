package broadcast

import "github.com/failaware/failaware/timed"

// HandleEnd ends the incarnation. Its effect has the messages that this node has acknowledged
// and not delivered, in the order of the log. All members have them, so another one may have
// delivered any of them as Strict, and a state without them would lack messages that others
// rely on. They depend on the log alone; if the view has more, the others deliver these first.
// The Service must not be used any more, except to give back loans.
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

// RecallOrdered takes the marks that Ordered returned in an earlier incarnation whose state the
// application keeps, or the marks that a disk has with that state. The messages up to the
// marks are in the state, so they are not ordered again in a view of which this node is a
// member. If this incarnation has already told others its marks, RecallOrdered does nothing
// and returns false.
func (s *Service) RecallOrdered(marks []Mark) bool {
	if s.view != nil || s.freeze.on {
		return false
	}
	s.marks[ClassOrdered].add(marks)
	return true
}
