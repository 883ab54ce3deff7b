package failaware

import (
	"context"
	"time"
)

// WaitLeader waits until there is a leader, this node or one that it follows, and
// returns the answer. The error is [ErrClosed] or the cause of ctx.
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
	// A vote that lapses and is given again between two turns of the loop begins no new
	// phase, so waitPhase looks at the answer from time to time.
	again := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer again.Stop()
	for {
		phase := n.loop.Snapshot().Phase
		if ctx.Err() != nil {
			return LeaderAnswer{}, context.Cause(ctx)
		}
		if a := n.Leader(); fits(a) {
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
