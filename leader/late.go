package leader

import "github.com/failaware/failaware/timed"

// late is a node's knowledge of its own lateness.
type late struct {
	since timed.Instant // the first lateness after a timely period
	until timed.Instant // the node counts as late until then
}

// NoteLate notes that this node acts more than SchedulingDelay after an action was due. The
// node counts as late until it has been timely for Expires. By then it has heard all peers
// that can be heard, and they have heard it.
func (e *Election) NoteLate(now timed.Instant) {
	if !e.Late(now) {
		e.late.since = now
	}
	e.late.until = now.Add(e.cfg.Timing.Expires)
}

// Late reports whether this node counts as late. Its packets say so.
func (e *Election) Late(now timed.Instant) bool { return now < e.late.until }

// DoubtsSilence reports whether the silence of peers may be this node's own fault. A node
// that is late for long stops doubting: otherwise it would keep nodes that have crashed.
func (e *Election) DoubtsSilence(now timed.Instant) bool {
	return e.Late(now) && now < e.late.since.Add(2*e.cfg.Timing.Expires)
}
