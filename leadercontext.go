package failaware

import (
	"context"
	"fmt"
	"time"
)

// LeaderContext returns a context that is done before this node's lease can
// end: at the latest [Timing.SchedulingDelay] before the lease runs out without
// having been renewed, and at once when the lead is given up. Its cause is then a
// [*NotLeaderError], which matches [ErrNotLeader]. It is done as well when ctx
// is, and when the node stops ([ErrClosed]). It stands for one uninterrupted
// lead: after another election, ask for another context.
//
// Err and Done read the hardware clock at every call. So a program that was
// stopped or suspended finds out by its next call, even if that comes before any
// other goroutine has run. Contexts derived from this one do not read the
// clock; they are done a little later.
//
// What was begun before the context was done may take effect after it: give
// outside systems an order to check, or leave time for what was begun.
//
// The error is [ErrNotLeader] or [ErrClosed], or the cause of ctx; the context
// and the cancel function are never nil, and the context is done then. Calling
// the function releases resources, as with [context.WithCancel].
func (n *Node) LeaderContext(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return n.leaderContext(ctx, false)
}

// GlobalLeaderContext is as [Node.LeaderContext] for the global lead: the context
// is done before this node's global lease can end. Its cause is then a
// [*NotLeaderError] with Global set. It lasts over changes of the local lead's
// support, as long as a quorum renews the lease.
func (n *Node) GlobalLeaderContext(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return n.leaderContext(ctx, true)
}

func (n *Node) leaderContext(ctx context.Context, global bool) (context.Context, context.CancelFunc, error) {
	inner, cancel := context.WithCancelCause(ctx)
	c := &leaderContext{Context: inner, cancel: cancel, n: n, global: global}
	if s, _, ok := current(n.state.Load, n.clock.Read); ok {
		c.phase, _ = s.lease(global)
	}
	var err error
	if c.Err() != nil {
		err = context.Cause(inner)
	} else {
		go c.watch()
	}
	return c, func() { cancel(context.Canceled) }, err
}

// leaderContext is a context for one lead. The inner context does all that
// contexts do; this one only looks at the clock before it answers.
type leaderContext struct {
	context.Context
	cancel context.CancelCauseFunc
	n      *Node
	phase  *phase // the lead; nil when there was none
	global bool   // it is about the global lead
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

// check ends the context unless the lead surely lasts, and returns for how long
// it does.
func (c *leaderContext) check() time.Duration {
	if c.Context.Err() != nil {
		return 0
	}
	s, now, ok := current(c.n.state.Load, c.n.clock.Read)
	margin := c.n.cfg.Timing.SchedulingDelay
	if phase, until := s.lease(c.global); ok && c.phase != nil && phase == c.phase && now.Add(margin) < until {
		return until.Sub(now) - margin
	}
	c.cancel(c.why())
	return 0
}

// why says why the lead is over.
func (c *leaderContext) why() error {
	switch {
	case isClosed(c.n.done):
		return ErrClosed
	case c.phase != nil && isClosed(c.phase.over) && c.phase.lost != nil:
		return c.phase.lost
	}
	return &NotLeaderError{Global: c.global}
}

// watch ends the context in time for those who only wait for Done.
func (c *leaderContext) watch() {
	for {
		left := c.check()
		if left == 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-c.Context.Done():
		case <-c.phase.over:
		case <-timer.C: // renewed meanwhile, or not
		}
		timer.Stop()
	}
}

// WaitLeader waits until there is a leader, this node or one that it follows,
// and returns the answer. The error is [ErrClosed] or the cause of ctx.
func (n *Node) WaitLeader(ctx context.Context) (LeaderAnswer, error) {
	return n.waitPhase(ctx, func(a LeaderAnswer) bool { return a.UpToDate })
}

// WaitElected waits until this node leads. The error is [ErrClosed] or the cause
// of ctx.
func (n *Node) WaitElected(ctx context.Context) error {
	_, err := n.waitPhase(ctx, func(a LeaderAnswer) bool { return a.Leads })
	return err
}

// Lead waits until this node leads, and returns a [Node.LeaderContext] for that
// lead. The error is [ErrClosed] or the cause of ctx; the context and the cancel
// function are never nil.
func (n *Node) Lead(ctx context.Context) (context.Context, context.CancelFunc, error) {
	for {
		err := n.WaitElected(ctx)
		lead, cancel, lost := n.LeaderContext(ctx)
		if err != nil || lost == nil {
			return lead, cancel, err
		}
		cancel() // lost again already, or about to be renewed
		time.Sleep(n.cfg.Timing.SchedulingDelay / 4)
	}
}

// waitPhase waits for an answer that fits.
func (n *Node) waitPhase(ctx context.Context, fits func(LeaderAnswer) bool) (LeaderAnswer, error) {
	// A vote that lapses and is given again between two turns of the loop is
	// no new phase, so the answer is looked at from time to time.
	again := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer again.Stop()
	for {
		phase := n.state.Load().phase
		if ctx.Err() != nil {
			return LeaderAnswer{}, context.Cause(ctx)
		}
		if a := n.Leader(); fits(a) {
			return a, nil
		}
		select {
		case <-phase.over:
		case <-again.C:
		case <-n.done:
			return LeaderAnswer{}, ErrClosed
		case <-ctx.Done():
		}
	}
}
