package failaware

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/broadcast/replica"
)

// Errors of replicas, to compare with [errors.Is].
var (
	// ErrLateReplica: deliveries of the node were received before [Replicate], which
	// the replica would miss.
	ErrLateReplica = errors.New("failaware: deliveries were received before Replicate")
	// ErrNotAccepting: the replica takes no operations now. A [*NotAcceptingError]
	// says why.
	ErrNotAccepting = errors.New("failaware: the replica takes no operations")
)

// NotAcceptingError says why an operation was not submitted. It matches
// [ErrNotAccepting], and [ErrNoQuorum] if that is why.
type NotAcceptingError struct {
	// Situation is why: no view, no quorum, or so much waits for a merge, or for the
	// word of all members, that no more may.
	Situation ReplicaSituation
	Err       error // the cause of the context, nil with NoWait
}

func (e *NotAcceptingError) Error() string {
	text := fmt.Sprintf("%v: %v", ErrNotAccepting, e.Situation)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is reports whether target is ErrNotAccepting or what it comes from.
func (e *NotAcceptingError) Is(target error) bool {
	return target == ErrNotAccepting || target == ErrNoQuorum && e.Situation == ReplicaNoQuorum
}

// Unwrap returns the cause of the context, if that ended the wait.
func (e *NotAcceptingError) Unwrap() error { return e.Err }

// More reasons why an outcome is not known, of [Replica.Submit].
const (
	// NotAppliedHere: the operation was delivered while this node had no state. It is
	// in the state that the node gets from others, unless that is lost.
	NotAppliedHere UnknownReason = "it was delivered while this node waited for the state of others"
	// StateDiscarded: the operation was applied, and then the state gave way to that of
	// a quorum, which may contain it or not.
	StateDiscarded UnknownReason = "the state that it was applied to gave way to another"
)

// Applied is what became of an operation.
type Applied struct {
	ID MessageID
	// Result is what Apply returned at this node.
	Result any
	// Transitional tells that the view ended before its atomicity was reached: it is
	// in the state of those who move on together with this node.
	Transitional bool
	// Lasting tells, with RequireQuorum, that the operation is in the states of all
	// later quorums, as long as a majority of the group keeps running.
	Lasting bool
	// Stamp is the group time of submission, wrong by at most Deviation, which is
	// [clocksync.UnknownBound] when the clock was not synchronized.
	Stamp     GroupTime
	Deviation time.Duration
}

// Submit makes an operation of a command, which it copies, and returns when the
// application of this node has applied it, with its result. The command is
// broadcast with [TotalOrder] and [StrictAtomicity]: unless the outcome is
// Transitional, every member of the view has it, and applies it. With RequireQuorum,
// Submit returns without an error only what is Lasting, and waits for that.
//
// It waits until operations are accepted. Errors of operations that are not
// submitted: a [*NotAcceptingError] with the reason and the cause of ctx;
// [ErrWindowFull] with that cause; [ErrTooLarge]; [ErrClosed]. An error that matches
// [ErrOutcomeUnknown] says why nobody knows whether the operation was, or will be,
// applied.
func (r *Replica) Submit(ctx context.Context, command []byte) (Applied, error) {
	return r.SubmitWith(ctx, command, BroadcastOptions{Order: TotalOrder, Atomicity: StrictAtomicity})
}

// SubmitWith is [Replica.Submit] with other options: TotalOrder or TimedOrder, any
// atomicity. With WeakAtomicity and StrongAtomicity it does not wait for an operation
// to be Lasting. NoWait makes it fail at once where it would wait in order to
// broadcast.
func (r *Replica) SubmitWith(ctx context.Context, command []byte, opts BroadcastOptions) (Applied, error) {
	if opts.Order.Class() != broadcast.ClassOrdered {
		return Applied{}, fmt.Errorf("%w: an operation needs TotalOrder or TimedOrder", ErrMessageOptions)
	}
	payload := replica.AppendOp(make([]byte, 0, len(command)+1), command)
	id, v, err := r.send(ctx, payload, opts, nil)
	if err != nil {
		return Applied{}, err
	}
	a := Applied{ID: id, Result: v.result, Transitional: v.op.Transitional, Lasting: v.lasting, Stamp: v.op.Stamp, Deviation: v.op.Deviation}
	if r.quorum && !v.lasting && opts.Atomicity == StrictAtomicity {
		if err := r.confirm(ctx, id, v.restores); err != nil {
			return Applied{}, err
		}
		a.Lasting = true
	}
	return a, nil
}

// send broadcasts, once operations are accepted, and waits for the verdict. at, if
// not nil, is called with a verdict at its place among the calls of the application.
func (r *Replica) send(ctx context.Context, payload []byte, opts BroadcastOptions, at func(verdict)) (MessageID, verdict, error) {
	for {
		if err := r.accepting(ctx, opts.NoWait); err != nil {
			return MessageID{}, verdict{}, err
		}
		call := r.ledger.send()
		id, err := r.n.Broadcast(ctx, payload, opts)
		c := r.ledger.sent(call, id, err, at)
		switch {
		case errors.Is(err, ErrNoQuorum):
			if err := r.pause(ctx, opts.NoWait); err != nil {
				return id, verdict{}, err
			}
			continue // the replica has not heard of the view yet
		case err != nil:
			return id, verdict{}, err
		}
		select {
		case v := <-c.verdict:
			return known(id, v)
		case <-ctx.Done():
			if r.ledger.forget(id) {
				return id, verdict{}, &UnknownOutcomeError{ID: id, Reason: NotAwaited, Err: context.Cause(ctx)}
			}
			return known(id, <-c.verdict) // it is just being told
		}
	}
}

func known(id MessageID, v verdict) (MessageID, verdict, error) {
	if v.unknown != "" {
		return id, v, &UnknownOutcomeError{ID: id, Reason: v.unknown}
	}
	return id, v, nil
}

// accepting waits until operations are accepted.
func (r *Replica) accepting(ctx context.Context, noWait bool) error {
	for {
		r.mu.Lock()
		life, changed := r.life, (<-chan struct{})(r.begun)
		r.mu.Unlock()
		situation := ReplicaNoView
		if life != nil {
			status, other := life.Status()
			if status.Accepting {
				return nil
			}
			situation, changed = status.Situation, other
		}
		if noWait {
			return &NotAcceptingError{Situation: situation}
		}
		select {
		case <-changed:
		case <-r.turn(life):
		case <-r.done:
			return ErrClosed
		case <-ctx.Done():
			return &NotAcceptingError{situation, context.Cause(ctx)}
		}
	}
}

// confirm waits until all that this node has applied lasts. If its state gives way
// to another before, that may contain the operation or not.
func (r *Replica) confirm(ctx context.Context, id MessageID, restores uint64) error {
	v, err := r.barrier(ctx, nil)
	switch {
	case errors.Is(err, ErrClosed):
		return &UnknownOutcomeError{ID: id, Reason: NodeStopped}
	case err != nil:
		return &UnknownOutcomeError{ID: id, Reason: NotAwaited, Err: err}
	case v.restores != restores:
		return &UnknownOutcomeError{ID: id, Reason: StateDiscarded}
	}
	return nil
}

// barrier waits for a barrier of this node that is delivered as regular, with
// RequireQuorum as lasting, while the node has the state of the view. at is called
// at its place among the calls of the application. A barrier that comes to nothing
// is tried again.
func (r *Replica) barrier(ctx context.Context, at func()) (verdict, error) {
	opts := BroadcastOptions{Order: TotalOrder, Atomicity: StrictAtomicity}
	good := func(v verdict) bool {
		kept := !v.op.Transitional && (v.lasting || !r.quorum)
		return v.unknown == "" && kept
	}
	var place func(verdict)
	if at != nil {
		place = func(v verdict) {
			if good(v) {
				at()
			}
		}
	}
	for {
		_, v, err := r.send(ctx, replica.AppendBarrier(nil), opts, place)
		var unknown *UnknownOutcomeError
		switch {
		case err == nil && good(v) && !(v.late && at != nil):
			return v, nil
		case errors.As(err, &unknown) && (unknown.Reason == NotAwaited || unknown.Reason == NodeStopped), err != nil && unknown == nil:
			return v, r.why(err)
		}
		if err := r.pause(ctx, false); err != nil {
			return v, err
		}
	}
}

// why says in terms of the replica why a barrier has failed.
func (r *Replica) why(err error) error {
	var unknown *UnknownOutcomeError
	switch {
	case !errors.As(err, &unknown):
		return err
	case unknown.Reason == NodeStopped:
		return ErrClosed
	}
	return &NotAcceptingError{r.Progress().Situation, unknown.Err}
}

// pause waits a moment before something is tried again.
func (r *Replica) pause(ctx context.Context, noWait bool) error {
	if noWait {
		return &NotAcceptingError{Situation: ReplicaNoQuorum}
	}
	timer := time.NewTimer(r.n.cfg.Timing.OneWayTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.done:
		return ErrClosed
	case <-ctx.Done():
		return &NotAcceptingError{r.Progress().Situation, context.Cause(ctx)}
	}
}
