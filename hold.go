package failaware

import (
	"context"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// Hold is a node's promise that nobody else leads for some time, even if the node
// itself steps down. [Node.Leader] promises less: a node that steps down frees
// its votes at once, and another may lead while an earlier answer is on its way to
// another process. A node frees votes only after the end of every hold that it gave.
//
// It is a value, and safe for concurrent use.
type Hold struct {
	// By is the incarnation that leads.
	By Incarnation
	// Since is when its uninterrupted lead began, on its hardware clock. Two holds are
	// of one lead if By and Since are the same.
	Since timed.Instant
	// Global says that it is about the global lead.
	Global bool

	until timed.Instant
	era   uint32
	clock *hwclock.Clock
}

// Left returns how long the hold lasts from now on, by the hardware clock, which
// each call reads; 0: it is over, or the machine has slept. A user that must surely
// have ended by then subtracts the time that ending takes.
func (h Hold) Left() time.Duration {
	return Verification{era: h.era, clock: h.clock}.left(h.until)
}

// Hold returns a promise that nobody else leads the logical partition for some time,
// at most [Timing.LockTime]: nobody leads with the support of this node or of its
// supporters. It is for programs that act for the leader and cannot look at its
// answers at every step, such as other processes; within the process, [Node.LeaderContext]
// costs nothing.
//
// A hold does not end when the node resigns: it makes the next leader wait. Ask for
// another one before it ends. The error is [ErrNotLeader], [ErrClosed] or the cause
// of ctx. It is safe for concurrent use, and costs a turn of the node's loop.
func (n *Node) Hold(ctx context.Context) (Hold, error) { return n.hold(ctx, false) }

// HoldGlobally is as [Node.Hold] for the global lead: nobody else in the group leads
// globally. The error of a node that does not lead globally is a [*NotLeaderError]
// with Global set.
func (n *Node) HoldGlobally(ctx context.Context) (Hold, error) { return n.hold(ctx, true) }

func (n *Node) hold(ctx context.Context, global bool) (Hold, error) {
	h, err := n.loop.Hold(ctx, global)
	if err != nil {
		return Hold{}, n.refusal(err, global)
	}
	return Hold{By: h.By, Since: h.Since, Global: global, until: h.Until, era: h.Era, clock: n.clock}, nil
}
