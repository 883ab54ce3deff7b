package stack

import "github.com/failaware/failaware/timed"

// noteLateness compares the instant of a turn with the one at which it had to begin: when a
// timer was due, or when a packet came. Everything that holds up a node shows here: the
// scheduler, the garbage collector, a slow disk, a busy turn before.
func (s *Stack) noteLateness(now, due timed.Instant) {
	if due != timed.Never && now.Sub(due) > s.cfg.Timing.SchedulingDelay {
		s.election.NoteLate(now)
	}
}
