package check

import (
	"time"

	"github.com/failaware/failaware/clocksync"
)

// endClocks demands that all nodes of a block follow the clock of their leader when a still
// period ends. A difference below the step threshold may still be slewed, and the offset is
// known to within the delays of two fast messages.
func (l *liveness) endClocks() {
	c := l.c
	most := clocksync.DefaultStepThreshold + 2*c.Timing.FastThreshold
	for _, b := range l.blocks {
		for id := range b.All() {
			n := c.processes[id-1]
			cl := &c.Claims[n.Index]
			if n.Stack == nil || !cl.LockedTo.Valid() || !c.keepsUp(n, c.processes[cl.LockedTo.Node-1]) {
				continue
			}
			r := n.Stack.Clock().Read(n.Clock.Show(c.Now))
			if r.Timeline.Leader != cl.LockedTo.Node || r.Timeline.Boot != cl.LockedTo.Boot {
				c.Fail("synchrony", n, "follows the clock %v although it follows %v for long", r.Timeline, cl.LockedTo)
			} else if r.Holdover || r.Deviation > most {
				c.Fail("synchrony", n, "has a deviation of %v (holdover %v) from the leader that it follows for long, which is above %v",
					time.Duration(r.Deviation), r.Holdover, most)
			}
		}
	}
}

// keepsUp reports whether a process can slew its clock as fast as its hardware clock drifts
// apart from the line of a leader.
func (c *Checker) keepsUp(n, leader *Process) bool {
	return n.Slew > leader.Slew/2+clocksync.LeastSlew(c.Timing.MaxDrift)
}
