package failaware

import (
	"context"
	"fmt"

	"github.com/failaware/failaware/broadcast"
)

// Broadcast sends a payload, which it copies, to the members of the view, and
// returns the message's id as soon as the message has its place among those of
// this node. While a view changes, messages wait for the next one. The messages
// of one goroutine are delivered in the order of its calls, as far as they share
// a class: those without an order, and those with one.
//
// It waits while the window is full, until ctx is done; the error then matches
// both [ErrWindowFull] and the cause of ctx. With NoWait it fails at once. Other
// errors are [ErrTooLarge], [ErrMessageOptions], [ErrNoQuorum] (an ordered message in a
// view without more than half of RequireQuorum), [ErrBroadcastOff], and [ErrClosed].
// With an error, the message is not sent.
//
// What became of the message is an item of the deliveries ([Node.Receive]): its
// own delivery, or [OutcomeLost], or [NewIncarnation]. [Node.BroadcastAndWait]
// waits for it.
//
// A message that comes alone is sent by the call itself, in a turn of the node's
// loop, which takes some tens of microseconds, and more if much else has come up;
// others are left for the loop. A panic in such a turn ends the process, whoever recovers.
//
// Broadcast is safe for concurrent use. In the steady state it does not allocate.
func (n *Node) Broadcast(ctx context.Context, payload []byte, opts BroadcastOptions) (MessageID, error) {
	return n.leaveMessage(ctx, payload, opts, nil)
}

// BroadcastAndWait is [Node.Broadcast], and waits until this node has delivered
// the message. To wait for a message with [StrictAtomicity] is to know that every
// member of the view has it, unless the outcome is Transitional.
//
// The error is that of Broadcast, and then the message is not sent, or it matches
// [ErrOutcomeUnknown]: the message may have been delivered, or may yet be. It does not
// depend on anybody receiving this node's deliveries.
func (n *Node) BroadcastAndWait(ctx context.Context, payload []byte, opts BroadcastOptions) (Outcome, error) {
	w := takeWaiter()
	id, err := n.leaveMessage(ctx, payload, opts, w)
	if err != nil {
		w.give()
		return Outcome{}, err
	}
	select {
	case r := <-w.result:
		w.give()
		if r.unknown != "" {
			return Outcome{}, &UnknownOutcomeError{ID: id, Reason: r.unknown}
		}
		return r.Outcome, nil
	case <-ctx.Done():
		return Outcome{}, &UnknownOutcomeError{ID: id, Reason: NotAwaited, Err: context.Cause(ctx)}
	}
}

// leaveMessage leaves a message for the loop, and whoever waits for its outcome.
func (n *Node) leaveMessage(ctx context.Context, payload []byte, opts BroadcastOptions, w *waiter) (MessageID, error) {
	o := n.outlet
	opt := broadcast.Options{Order: opts.Order, Atomicity: opts.Atomicity}
	switch {
	case o == nil:
		return MessageID{}, ErrBroadcastOff
	case !opt.Valid():
		return MessageID{}, ErrMessageOptions
	case len(payload) > o.maxPayload:
		return MessageID{}, fmt.Errorf("%w: %d bytes, and MaxPayload is %d", ErrTooLarge, len(payload), o.maxPayload)
	case ctx.Err() != nil:
		return MessageID{}, context.Cause(ctx)
	}
	class := opts.Order.Class()
	for at := comes; ; {
		id, first, err := o.put(payload, opt, w, !opts.NoWait, &at)
		if first && !n.loop.lend() {
			n.conn.Wake()
		}
		if err != ErrWindowFull || opts.NoWait {
			return id, err
		}
		select {
		case <-o.lanes[class].room:
		case <-ctx.Done():
			o.unwait(class, at)
			return MessageID{}, fmt.Errorf("%w: %w", ErrWindowFull, context.Cause(ctx))
		}
	}
}
