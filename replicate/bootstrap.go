package replicate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Bootstrap lets the members of the view continue with the newest state that one of them has,
// without waiting for absent nodes that may remember more (Recovering). It is for an operator
// who knows that the absent nodes have no newer state, or accepts its loss: acknowledged
// operations may be lost, and an absent node that comes back discards its state. One call at
// one node of the view is enough. If the view ends before a quorum has the state, with Storage on
// disks, another call may be necessary. The wall clock of this node dates the call: a later one,
// after disks were lost, needs a clock that is ahead of that of the former.
//
// It returns when a view continues with a state (Working, Merging or Transferring), at once
// if it does already. It waits for a view whose members have all reported their states. The
// error is that of the broadcast, a [*NotAcceptingError] with the cause of ctx,
// [failaware.ErrClosed] or [ErrInside].
func (r *Replica) Bootstrap(ctx context.Context) error {
	if r.engine.Waited() {
		return ErrInside
	}
	err := bootstrap(ctx, r.done, r.engine.Status, func(view failaware.ViewID) error {
		weak := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: broadcast.WeakAtomicity}
		_, err := r.node.Broadcast(ctx, replica.AppendBootstrap(nil, view, time.Now()), weak)
		return err
	})
	if errors.Is(err, errNotWaited) {
		return r.notAccepting(context.Cause(ctx))
	}
	return err
}

var errNotWaited = errors.New("replicate: ctx is done")

// bootstrap calls say in each view that waits, because a permission counts in one view only.
// A view whose members are still reporting may turn out to wait.
func bootstrap(ctx context.Context, done <-chan struct{}, ask func() (engine.Status, <-chan struct{}), say func(failaware.ViewID) error) error {
	said := failaware.ViewID{}
	for {
		status, changed := ask()
		switch status.Situation {
		case Working, Merging, Transferring:
			return nil
		}
		if status.Situation == Recovering && status.View != said {
			if err := say(status.View); err != nil {
				return fmt.Errorf("replicate: Bootstrap: %w", err)
			}
			said = status.View
		}
		select {
		case <-changed:
		case <-done:
			return failaware.ErrClosed
		case <-ctx.Done():
			return errNotWaited
		}
	}
}
