package failaware

import (
	"context"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// Hold is a node's promise that nobody else leads for some time, whatever the node
// itself does meanwhile. [Node.Leader] promises less: a node that steps down frees
// its votes at once, and somebody else may lead while an answer of before is on its
// way to another process. A node waits for the end of every hold that it gave
// before it frees votes.
//
// It is a value, and safe for concurrent use.
type Hold struct {
	// By is the incarnation that leads.
	By Incarnation
	// Since is when its uninterrupted lead began, on its hardware clock. Two
	// holds are of one lead if By and Since are the same.
	Since timed.Instant
	// Global tells that it is about the global lead.
	Global bool

	until timed.Instant
	epoch uint32
	clock *hwclock.Clock
}

// Left returns for how long the hold lasts from now on, by the hardware clock,
// which each call reads; 0: it is over, or the machine has slept. A user that must
// surely have ended by then takes off what ending needs.
func (h Hold) Left() time.Duration {
	return Verification{epoch: h.epoch, clock: h.clock}.left(h.until)
}

// Hold returns a promise that nobody else leads the logical partition for some
// time, at most [Timing.LockTime]: nobody leads with the support of this node or of
// those who support it. It is for those who act for the leader and cannot look at
// its answers at every step, such as other processes; within the process,
// [Node.LeaderContext] costs nothing.
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
	result := make(chan *Hold, 1)
	if !n.do(func(d *driver) { d.after = append(d.after, func() { result <- d.vouch(global) }) }) {
		return Hold{}, ErrClosed
	}
	select {
	case h := <-result:
		if h == nil {
			return Hold{}, n.refuse(global)
		}
		return *h, nil
	case <-n.done:
		return Hold{}, ErrClosed
	case <-ctx.Done():
		return Hold{}, context.Cause(ctx)
	}
}

// vouch gives a hold, or nil if the node does not lead. It comes after the state
// of the turn was published, so that the hold names the lead that readers know.
func (d *driver) vouch(global bool) *Hold {
	s := d.published
	p, _ := s.lease(global)
	if d.stack == nil || !p.leads {
		return nil
	}
	h := &Hold{By: s.Self, Since: p.since, Global: global, epoch: d.epoch, clock: d.n.clock}
	a := d.stack.Vouch(d.now)
	if h.until = a.Local; global {
		h.until = a.Global
	}
	if h.until == 0 {
		return nil
	}
	return h
}
