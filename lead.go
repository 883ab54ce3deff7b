package failaware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
)

// Lead waits until this node leads its logical partition, and returns a
// [Node.LeaderContext] for that lead. The error is [ErrClosed] or the cause of ctx; the
// context and the cancel function are never nil.
func (n *Node) Lead(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return n.lead(ctx, false)
}

// LeadGlobally waits until this node leads globally, and returns a
// [Node.GlobalLeaderContext] for that lead. The error is [ErrClosed], the cause of ctx,
// or [ErrNotLeader] if the node has no quorum system; the context and the cancel
// function are never nil.
func (n *Node) LeadGlobally(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return n.lead(ctx, true)
}

// LeaderContext returns a context that is done before this node's lease can end: at
// the latest Timing.SchedulingDelay before the lease runs out without having been
// renewed, and at once when the lead is given up. Its cause is then a
// [*NotLeaderError], which matches [ErrNotLeader]. It is also done when ctx is, and
// when the node stops ([ErrClosed]). It stands for one uninterrupted lead: after
// another election, ask for another context.
//
// Err and Done read the hardware clock at every call. So a program that was stopped
// or suspended finds out by its next call, even if that comes before any other
// goroutine has run. Contexts derived from this one do not read the clock; they are
// done a little later.
//
// Work that was begun before the context was done may take effect after it: give
// outside systems an order to check, or leave time for the work to end.
//
// The error is [ErrNotLeader] or [ErrClosed], or the cause of ctx; the context and
// the cancel function are never nil, and the context is done then. Calling the
// function releases resources, as with [context.WithCancel].
func (n *Node) LeaderContext(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return n.leaderContext(ctx, false)
}

// GlobalLeaderContext is like [Node.LeaderContext], for the global lead: the context
// is done before this node's global lease can end. Its cause is then a
// [*NotLeaderError] with Global set. It lasts over changes of the local lead's
// support, as long as a quorum renews the lease.
func (n *Node) GlobalLeaderContext(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return n.leaderContext(ctx, true)
}

// WaitLeader waits until there is a leader, this node or one that it follows, and
// returns the answer. The error is [ErrClosed] or the cause of ctx.
func (n *Node) WaitLeader(ctx context.Context) (LeaderAnswer, error) {
	return n.wait(ctx, false, func(a LeaderAnswer) bool { return a.UpToDate })
}

// WaitGlobalLeader waits until this node leads globally, or hears of a node that
// does, and returns the answer. The error is [ErrClosed] or the cause of ctx.
func (n *Node) WaitGlobalLeader(ctx context.Context) (LeaderAnswer, error) {
	return n.wait(ctx, true, func(a LeaderAnswer) bool { return a.Leader != NoNode })
}

// Resign gives up the lead in favour of the next candidate; the node stays in the
// group and may be elected again. It returns when the lead is given up, or with an
// error: [ErrNotLeader], [ErrClosed], or the cause of ctx. If the node stops, or ctx ends, while it
// is about it, the lead may be given up all the same: [Node.Leader] tells.
func (n *Node) Resign(ctx context.Context) error { return n.resignTo(ctx, NoNode) }

// HandOver gives up the lead as [Node.Resign] does, in favour of a peer, which leads
// next if it can be reached, regardless of its rank. The error is that of Resign,
// or [ErrSuccessor]: a node does not give up the lead for a peer that it does not hear.
func (n *Node) HandOver(ctx context.Context, to NodeID) error {
	if to == n.cfg.ID || !to.Valid() {
		return fmt.Errorf("%w: node %v cannot hand over to node %v", ErrSuccessor, n.cfg.ID, to)
	}
	if n.Leads() {
		peers := n.Status().Peers
		if i := slices.IndexFunc(peers, func(p PeerStatus) bool { return p.ID == to }); i >= 0 && !peers[i].Alive {
			return fmt.Errorf("%w: this node does not hear node %v", ErrSuccessor, to)
		}
	}
	return n.resignTo(ctx, to)
}

func (n *Node) lead(ctx context.Context, global bool) (context.Context, context.CancelFunc, error) {
	if global && n.neverGlobal() {
		lead, cancel, _ := n.leaderContext(ctx, global)
		cancel()
		return lead, cancel, n.refuse(global)
	}
	for {
		_, err := n.wait(ctx, global, func(a LeaderAnswer) bool { return a.Leads })
		lead, cancel, lost := n.leaderContext(ctx, global)
		if err != nil || lost == nil {
			return lead, cancel, err
		}
		cancel() // lost again already, or about to be renewed
		select {
		case <-time.After(n.cfg.Timing.SchedulingDelay / 4):
		case <-ctx.Done():
		case <-n.done:
		}
	}
}

// wait waits for an answer that fits.
func (n *Node) wait(ctx context.Context, global bool, fits func(LeaderAnswer) bool) (LeaderAnswer, error) {
	// A vote that lapses and is given again between two turns of the loop begins no new
	// phase, nor does another node's global lead, so wait looks at the answer from time
	// to time.
	again := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer again.Stop()
	ask := n.Leader
	if global {
		ask = n.GlobalLeader
	}
	for {
		phase, _ := n.loop.Snapshot().Lease(global)
		if ctx.Err() != nil {
			return LeaderAnswer{}, context.Cause(ctx)
		}
		if a := ask(); fits(a) {
			return a, nil
		}
		select {
		case <-phase.Over:
		case <-again.C:
		case <-n.done:
			return LeaderAnswer{}, ErrClosed
		case <-ctx.Done():
		}
	}
}

func (n *Node) resignTo(ctx context.Context, to NodeID) error {
	err := n.loop.Resign(ctx, to)
	if errors.Is(err, loop.ErrUnknownPeer) {
		return fmt.Errorf("%w: node %v is not known here", ErrSuccessor, to)
	}
	return n.refusal(err, false)
}

func (n *Node) leaderContext(ctx context.Context, global bool) (context.Context, context.CancelFunc, error) {
	inner, cancel := context.WithCancelCause(ctx)
	c := &leaderContext{Context: inner, cancel: cancel, global: global, load: n.loop.Snapshot, read: n.clock.Read,
		margin: n.cfg.Timing.SchedulingDelay, stopped: n.loop.Done(), refuse: n.refuse}
	if s, _, ok := current(c.load, c.read); ok {
		c.phase, _ = s.Lease(global)
	}
	var err error
	if c.Err() != nil {
		err = context.Cause(inner)
	} else {
		go c.watch()
	}
	return c, func() { cancel(context.Canceled) }, err
}

// leaderContext is a context for one lead. The inner context does everything that
// contexts do; this one only looks at the clock before it answers.
type leaderContext struct {
	context.Context
	cancel  context.CancelCauseFunc
	phase   *loop.Phase // the lead, or another one if there was none; nil if the clock is not trusted
	global  bool        // it is about the global lead
	load    func() *loop.Snapshot
	read    func() hwclock.Reading
	margin  time.Duration // before the end of the lease
	stopped <-chan struct{}
	refuse  func(global bool) error // why there was none
}

// Err implements [context.Context], and reads the clock.
func (c *leaderContext) Err() error {
	c.check()
	return c.Context.Err()
}

// Done implements [context.Context], and reads the clock.
func (c *leaderContext) Done() <-chan struct{} {
	c.check()
	return c.Context.Done()
}

func (c *leaderContext) String() string { return fmt.Sprintf("%v.LeaderContext", c.Context) }

// check ends the context unless the lead surely lasts, and returns how long it does.
func (c *leaderContext) check() time.Duration {
	if c.Context.Err() != nil {
		return 0
	}
	s, now, ok := current(c.load, c.read)
	if ok {
		if left := s.Lasts(c.phase, c.global, now, c.margin); left > 0 {
			return left
		}
	}
	c.cancel(c.why())
	return 0
}

// why says why the lead is over.
func (c *leaderContext) why() error {
	switch {
	case isClosed(c.stopped):
		return ErrClosed
	case c.phase != nil && !c.phase.Leads:
		return c.refuse(c.global)
	case c.phase != nil && isClosed(c.phase.Over):
		return lostError(c.phase.Lost(), c.global)
	}
	return lostError(nil, c.global)
}

// watch ends the context in time for goroutines that only wait for Done. It runs in
// a goroutine of its own.
func (c *leaderContext) watch() {
	for {
		left := c.check()
		if left == 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-c.Context.Done():
		case <-c.phase.Over:
		case <-timer.C: // renewed meanwhile, or not
		}
		timer.Stop()
	}
}
