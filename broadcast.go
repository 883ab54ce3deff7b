package failaware

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/loop/sendqueue"
)

// Broadcast sends a payload, which it copies, to the members of the view, and
// returns the message's id once the message has a place among this node's messages.
// While a view changes, messages wait for the next one. Messages of one goroutine are
// delivered in the order of its calls within each of two classes: [Unordered] messages,
// and all others.
//
// Broadcast waits while the window is full, until ctx is done; the error then matches both
// [ErrWindowFull] and the cause of ctx. With NoWait it fails at once with ErrWindowFull.
// Other errors are the cause of a ctx that is done before the call, [ErrTooLarge],
// [ErrMessageOptions], [ErrNoQuorum] (an ordered message, with RequireQuorum, in a view
// that holds no quorum), [ErrBroadcastOff], and [ErrClosed]. With an error, the message is
// not sent.
//
// The outcome of the message is an item of the deliveries ([Node.Receive]): its own
// delivery, or [OutcomeLost], or [NewIncarnation]. [Node.BroadcastAndWait] waits for
// it.
//
// If the message comes alone, the call takes a turn of the node's loop and sends it. That
// takes some tens of microseconds, and more if other work is due. Otherwise the loop sends
// the message. A panic in such a turn ends the process, even if the caller recovers.
//
// Broadcast is safe for concurrent use. In the steady state it does not allocate.
func (n *Node) Broadcast(ctx context.Context, payload []byte, opts BroadcastOptions) (MessageID, error) {
	return n.send(ctx, sendqueue.Application, payload, opts, nil)
}

// BroadcastAndWait calls [Node.Broadcast], and waits until this node has delivered the
// message. With [StrictAtomicity], every member of the view then has the message, unless
// the outcome is Transitional. The application need not receive the deliveries meanwhile.
//
// An error of Broadcast means that the message is not sent. An error that matches
// [ErrOutcomeUnknown] means that it may have been delivered, or may yet be.
func (n *Node) BroadcastAndWait(ctx context.Context, payload []byte, opts BroadcastOptions) (Outcome, error) {
	if n.cfg.Broadcast == nil {
		return Outcome{}, ErrBroadcastOff
	}
	sends := n.loop.Sends()
	w := sends.NewWaiter()
	id, err := n.send(ctx, sendqueue.Application, payload, opts, w.Queued)
	if err != nil {
		sends.Free(w)
		return Outcome{}, err
	}
	select {
	case r := <-w.Result:
		sends.Free(w)
		if r.Lost != sendqueue.NotLost {
			return Outcome{}, &UnknownOutcomeError{ID: id, Reason: unknownReasons[r.Lost]}
		}
		return outcomeOf(&r), nil
	case <-ctx.Done():
		return Outcome{}, &UnknownOutcomeError{ID: id, Reason: NotAwaited, Err: context.Cause(ctx)}
	}
}

// outcomeOf returns the outcome of a message that was delivered.
func outcomeOf(o *sendqueue.Outcome) Outcome {
	m := &o.Message
	return Outcome{ID: m.ID, View: o.View, Transitional: m.Transitional, Position: m.Position,
		Stamp: m.Stamp, Deviation: m.Deviation}
}

// send queues a message of a lane for the loop. queued, if not nil, is called with its id before
// the loop can take it.
func (n *Node) send(ctx context.Context, lane sendqueue.Lane, payload []byte, opts BroadcastOptions, queued func(MessageID)) (MessageID, error) {
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
	id, err := n.loop.Sends().Send(ctx, lane, payload, opt, queued, opts.NoWait)
	if err == sendqueue.ErrClosed {
		err = ErrClosed
	}
	return id, err
}

// Orders of messages; the first is the default.
const (
	// TotalOrder: in one order, the same at all members of the view.
	TotalOrder = broadcast.TotalOrder
	// TimedOrder: in that one order, by synchronized send time, then sender.
	TimedOrder = broadcast.TimedOrder
	// Unordered: in the order of sending for each sender, and in no other order.
	Unordered = broadcast.Unordered
)

// Atomicities of messages; the first is the default.
const (
	// StrongAtomicity: a member delivers the message when more than half of the
	// view's members are known to have it. With RequireQuorum, in a view that holds
	// a quorum, those must be a quorum too.
	StrongAtomicity = broadcast.StrongAtomicity
	// StrictAtomicity: a member delivers the message when all of the view's
	// members are known to have it.
	StrictAtomicity = broadcast.StrictAtomicity
	// WeakAtomicity: a member delivers the message at once.
	WeakAtomicity = broadcast.WeakAtomicity
)

// BroadcastOptions are chosen for each message. Zero options mean [TotalOrder] and
// [StrongAtomicity]. All nine combinations of order and atomicity exist.
type BroadcastOptions struct {
	Order     Order
	Atomicity Atomicity
	// NoWait makes the call fail with [ErrWindowFull] where it would wait for
	// room otherwise.
	NoWait bool
}

// Errors of the broadcast, to compare with [errors.Is].
var (
	// ErrBroadcastOff: the node was started without [Config.Broadcast].
	ErrBroadcastOff = errors.New("failaware: broadcast is off (Config.Broadcast)")
	// ErrWindowFull: too many of this node's messages are not yet known to be at all
	// members.
	ErrWindowFull = broadcast.ErrWindowFull
	// ErrTooLarge: the payload is larger than MaxPayload.
	ErrTooLarge = broadcast.ErrTooLarge
	// ErrMessageOptions: the options name no order or atomicity that exists.
	ErrMessageOptions = broadcast.ErrOptions
	// ErrNoQuorum: the view does not hold the quorum that
	// [BroadcastConfig.RequireQuorum] asks for.
	ErrNoQuorum = broadcast.ErrNoQuorum
	// ErrOutcomeUnknown: this node cannot say, now or ever, whether the message was or
	// will be delivered. A [*UnknownOutcomeError] says why.
	ErrOutcomeUnknown = errors.New("failaware: the outcome of the broadcast is unknown")
	// ErrConsumer: another goroutine receives the deliveries.
	ErrConsumer = errors.New("failaware: deliveries have one consumer at a time, and another one has them: a replica, or a loop over Deliveries")
	// ErrSendOnly: the node was started with [BroadcastConfig.SendOnly].
	ErrSendOnly = errors.New("failaware: this node keeps no deliveries (BroadcastConfig.SendOnly)")
)

// Outcome is the delivery of a message at the node that has broadcast it.
type Outcome struct {
	ID MessageID
	// View is the view in which the message was delivered. It must not be changed.
	View *View
	// Transitional says that the atomicity was not reached in View: the message is
	// delivered by the members that move on together with this node.
	Transitional bool
	// Position counts the ordered messages of the view from 1; 0 for Unordered ones. It is
	// the same at all members, unless the message is Transitional.
	Position uint64
	// Stamp is the group time of sending, wrong by at most Deviation, which is
	// [clocksync.UnknownBound] when the clock was not synchronized.
	Stamp     GroupTime
	Deviation time.Duration
}

// UnknownReason says why the outcome of a broadcast is not known.
type UnknownReason string

// The reasons. Messages with such an outcome are not sent again.
const (
	// OrderedElsewhere: another branch of the group has ordered the message; this
	// node cannot know which nodes delivered it.
	OrderedElsewhere UnknownReason = "another branch of the group ordered the message"
	// IncarnationEnded: the incarnation that sent it is over (event.Restarted).
	IncarnationEnded UnknownReason = "the incarnation that sent it ended"
	// NodeStopped: the node has stopped.
	NodeStopped UnknownReason = "the node stopped"
	// NotAwaited: the caller's context was done first. The message goes on.
	NotAwaited UnknownReason = "the wait for it ended"
)

var unknownReasons = [...]UnknownReason{sendqueue.NotLost: "", sendqueue.OrderedElsewhere: OrderedElsewhere,
	sendqueue.IncarnationEnded: IncarnationEnded, sendqueue.NodeStopped: NodeStopped}

// UnknownOutcomeError says why the outcome of a broadcast is not known. It
// matches [ErrOutcomeUnknown].
type UnknownOutcomeError struct {
	ID     MessageID
	Reason UnknownReason
	Err    error // the cause of the context, with NotAwaited
}

func (e *UnknownOutcomeError) Error() string {
	text := fmt.Sprintf("failaware: the outcome of message %v is unknown: %s", e.ID, string(e.Reason))
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is reports whether target is ErrOutcomeUnknown.
func (e *UnknownOutcomeError) Is(target error) bool { return target == ErrOutcomeUnknown }

// Unwrap returns the cause of the context, if that ended the wait.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }
