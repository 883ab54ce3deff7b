package broadcast

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
)

// audit has the values that the last call of Audit compared.
type audit struct {
	view     membership.ViewID
	position uint64
	own      [classes]uint64
	stable   [atomicities]uint64
	floor    clocksync.Time
}

// Audit returns the first invariant that the state breaks, in words, or "". A node with
// such a state must end its incarnation. Call it at the end of each turn: some invariants
// compare the state with that of the last call.
func (s *Service) Audit() string {
	if s == nil {
		return "" // the node has no broadcast
	}
	last := s.audit
	s.audit = audit{position: s.position, own: s.own, stable: s.stable, floor: s.floor}
	if s.view != nil {
		s.audit.view = s.view.ID
	}
	switch {
	case s.audit.view.Sequence < last.view.Sequence:
		return "a broadcast in an older view"
	case s.audit.view == last.view && s.position < last.position:
		return "a delivery that is undone"
	case s.view != nil && s.audit.view == last.view && s.floor < last.floor:
		return "a promise of stamps that is taken back"
	case s.have > s.known:
		return "an acknowledgement of an unknown decision"
	case s.lent < 0:
		return "a payload that is given back twice"
	}
	for c := range s.own {
		if s.own[c] < last.own[c] {
			return "a number of an own message that is used again"
		}
		if s.sent[c] > s.own[c] {
			return "a message that is sent before it is numbered"
		}
	}
	for a := range s.stable {
		if s.audit.view == last.view && s.stable[a] < last.stable[a] {
			return "a stable decision that is no longer stable"
		}
	}
	return ""
}
