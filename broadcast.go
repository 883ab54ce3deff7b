package failaware

import (
	"context"
	"fmt"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/loop/sendqueue"
)

// Broadcast sends a payload, which it copies, to the members of the view, and
// returns the message's id as soon as the message has its place among those of this
// node. While a view changes, messages wait for the next one. The messages of one
// goroutine are delivered in the order of its calls, as far as they share a class:
// those without an order, and those with one.
//
// It waits while the window is full, until ctx is done; the error then matches both
// [ErrWindowFull] and the cause of ctx. With NoWait it fails at once. Other errors are
// [ErrTooLarge], [ErrMessageOptions], [ErrNoQuorum] (an ordered message in a view
// without more than half of RequireQuorum), [ErrBroadcastOff], and [ErrClosed]. With
// an error, the message is not sent.
//
// The outcome of the message is an item of the deliveries ([Node.Receive]): its own
// delivery, or [OutcomeLost], or [NewIncarnation]. [Node.BroadcastAndWait] waits for
// it.
//
// The call itself sends a message that comes alone, in a turn of the node's loop,
// which takes some tens of microseconds, and more if much else has come up; others
// are left to the loop. A panic in such a turn ends the process, even if the caller
// recovers.
//
// Broadcast is safe for concurrent use. In the steady state it does not allocate.
func (n *Node) Broadcast(ctx context.Context, payload []byte, opts BroadcastOptions) (MessageID, error) {
	return n.send(ctx, payload, opts, nil)
}

// BroadcastAndWait is [Node.Broadcast], and waits until this node has delivered the
// message. To wait for a message with [StrictAtomicity] is to know that every member
// of the view has it, unless the outcome is Transitional.
//
// The error is that of Broadcast, and then the message is not sent, or it matches
// [ErrOutcomeUnknown]: the message may have been delivered, or may yet be. It does not
// depend on anybody receiving this node's deliveries.
func (n *Node) BroadcastAndWait(ctx context.Context, payload []byte, opts BroadcastOptions) (Outcome, error) {
	w := sendqueue.NewWaiter()
	id, err := n.send(ctx, payload, opts, w)
	if err != nil {
		w.Free()
		return Outcome{}, err
	}
	select {
	case r := <-w.Result:
		w.Free()
		if r.Lost != sendqueue.NotLost {
			return Outcome{}, &UnknownOutcomeError{ID: id, Reason: unknownReasons[r.Lost]}
		}
		m := &r.Message
		return Outcome{ID: m.ID, View: r.View, Transitional: m.Transitional, Position: m.Position,
			Stamp: m.Stamp, Deviation: m.Deviation}, nil
	case <-ctx.Done():
		return Outcome{}, &UnknownOutcomeError{ID: id, Reason: NotAwaited, Err: context.Cause(ctx)}
	}
}

// send queues a message for the loop, with the waiter for its outcome, if there is
// one.
func (n *Node) send(ctx context.Context, payload []byte, opts BroadcastOptions, w *sendqueue.Waiter) (MessageID, error) {
	b := n.cfg.Broadcast
	opt := broadcast.Options{Order: opts.Order, Atomicity: opts.Atomicity}
	switch {
	case b == nil:
		return MessageID{}, ErrBroadcastOff
	case !opt.Valid():
		return MessageID{}, ErrMessageOptions
	case len(payload) > b.MaxPayload:
		return MessageID{}, fmt.Errorf("%w: %d bytes, and MaxPayload is %d", ErrTooLarge, len(payload), b.MaxPayload)
	case ctx.Err() != nil:
		return MessageID{}, context.Cause(ctx)
	}
	id, err := n.loop.Sends().Send(ctx, payload, opt, w, opts.NoWait)
	if err == sendqueue.ErrClosed {
		err = ErrClosed
	}
	return id, err
}
