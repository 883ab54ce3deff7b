package stack

import (
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
	if why := s.datagrams.Audit(); why != "" {
		return why
	}
	if why := s.election.Audit(now); why != "" {
		return why
	}
	if why := s.views.Audit(now); why != "" {
		return why
	}
	if until := s.views.ValidUntil(); now < until {
		to, locked := s.election.Locked(now)
		if id := s.views.View().ID; to.Node != id.Leader || to.Boot != id.Boot || locked < until {
			return "a view that outlasts the vote for its leader"
		}
	}
	if why := s.clock.Audit(now); why != "" {
		return why
	}
	if s.broadcast != nil {
		if why := s.broadcast.Audit(); why != "" {
			return why
		}
	}
	if s.epochs.machine != nil {
		return s.epochs.machine.Audit()
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
