package failaware

import (
	"context"

	"github.com/failaware/failaware/internal/hwclock"
)

// logEvents writes events to the log. It runs in a goroutine of its own, because a
// log may block and the loop must not.
func (n *Node) logEvents() {
	for e := range n.EventsSince(context.Background(), 0) {
		n.log.Log(levelOf(e), e.String(), "event", e.Kind(), "sequence", e.Header().Sequence)
	}
}

// judgeRate takes a new verdict on the rate of the kernel's clock.
func (n *Node) judgeRate(v hwclock.Verdict, s hwclock.Status) {
	n.log.Warn("the rate error of the hardware clock is "+v.String(),
		"ppb", s.RateError, "maxdrift", int64(n.cfg.Timing.MaxDrift))
	n.loop.JudgeRate(v)
}
