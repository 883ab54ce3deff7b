package clocksync

import "github.com/failaware/failaware/timed"

// audit has the values that the last call of Audit compared.
type audit struct {
	id    TimelineID
	shown Time
}

// Audit returns the first invariant that the state breaks at now, in words, or "". A
// node with such a state must end its incarnation. Call it at the end of each turn:
// some invariants compare the state with that of the last call.
func (c *Sync) Audit(now timed.Instant) string {
	s, last := &c.snap, c.audit
	c.audit = audit{s.id, s.show(now)}
	switch {
	case s.own && (s.id.Leader != c.cfg.Self.Node || s.id.Boot != c.cfg.Self.Boot):
		return "a clock that leads another node's timeline"
	case s.id == last.id && c.audit.shown < last.shown:
		return "a clock that runs backwards"
	case s.known && s.half < 0:
		return "a negative bound of the clock's deviation"
	}
	return ""
}
