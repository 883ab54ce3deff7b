package stack

import (
	"cmp"

	"github.com/failaware/failaware/timed"
)

// audit checks the invariants of all layers at the end of a turn. If one is broken, the
// node has a bug, or its clock does not keep ρ: the turn sends nothing, and the incarnation
// must end, rather than go on with a state that no rule leads to.
func (s *Stack) audit(now timed.Instant) {
	why := s.broken(now)
	if why == "" || s.inconsistent {
		return
	}
	s.inconsistent = true
	s.notify(Event{Kind: EventInconsistent, Text: why})
}

// broken returns the first broken invariant, in words, or "".
func (s *Stack) broken(now timed.Instant) string {
	return cmp.Or(s.datagrams.Audit(), s.election.Audit(now), s.views.Audit(now), s.outlasts(now), s.clock.Audit(now),
		s.broadcast.Audit(), s.epochs.machine.Audit())
}

// outlasts compares the lease of the view with the vote that it rests on.
func (s *Stack) outlasts(now timed.Instant) string {
	if until := s.views.ValidUntil(); now < until {
		to, locked := s.election.Locked(now)
		if id := s.views.View().ID; to.Node != id.Leader || to.Boot != id.Boot || locked < until {
			return "a view that outlasts the vote for its leader"
		}
	}
	return ""
}

// withhold drops the effects of a turn except the events.
func withhold(out []Effect) []Effect {
	kept := out[:0]
	for i := range out {
		if out[i].Kind == Notify {
			kept = append(kept, out[i])
		}
	}
	return kept
}
