package replicate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Applied is the outcome of an operation.
type Applied struct {
	ID failaware.MessageID // of the message that carried it
	// Result is the value that Apply returned at this node.
	Result any
	// Repeated says, in a [Session], that an earlier attempt was applied. Result is what
	// Apply returned then.
	Repeated bool
	// Transitional says that the view ended before the operation's atomicity was
	// reached: it is in the state of the members that move on together with this node.
	Transitional bool
	// Lasting says that the operation is kept. With RequireQuorum it is in the states of
	// all later quorums, as long as a quorum remembers it: a process that starts again has
	// forgotten it until it has the state, unless its [Config.Storage] has it. The event
	// [Begun] says that no quorum remembered. With Storage and without RequireQuorum it is
	// on the disks of all members of the view.
	Lasting bool
	// Stamp is the group time of submission, wrong by at most Deviation, which is
	// [clocksync.UnknownBound] when the clock was not synchronized.
	Stamp     failaware.GroupTime
	Deviation time.Duration
}

// String says what came of the operation.
func (a Applied) String() string {
	how := "applied"
	switch {
	case a.ID == (failaware.MessageID{}):
		return "no operation"
	case a.Repeated:
		how = "applied by an earlier attempt"
	case a.Transitional:
		how = "applied as transitional"
	}
	if a.Lasting {
		how += ", lasting"
	}
	return fmt.Sprintf("operation %v %s, with result %v", a.ID, how, a.Result)
}

// Submit makes an operation of a command, which it copies, and returns when the
// application of this node has applied it, with its result. The command is broadcast
// with [failaware.TotalOrder] and [failaware.StrictAtomicity]: unless the outcome is
// Transitional, every member of the view has it, and applies it. With RequireQuorum or
// [Config.Storage], Submit returns without an error only operations that are Lasting, and
// waits for that.
//
// A command takes [OperationOverhead] bytes more of the broadcast's MaxPayload than it has.
//
// It waits until operations are accepted. Errors of operations that are not
// submitted: a [*NotAcceptingError] with the reason and the cause of ctx;
// [failaware.ErrWindowFull] with that cause; [failaware.ErrTooLarge];
// [failaware.ErrClosed]; [ErrInside]. An error that matches [failaware.ErrOutcomeUnknown] says why
// nobody knows whether the operation was, or will be, applied.
func (r *Replica) Submit(ctx context.Context, command []byte) (Applied, error) {
	return r.SubmitWith(ctx, command, ordered)
}

// ordered are the options of Submit and of barriers.
var ordered = failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.StrictAtomicity}

// SubmitWith is [Replica.Submit] with other options: TotalOrder or TimedOrder, any
// atomicity. With WeakAtomicity and StrongAtomicity it does not wait for an operation
// to be Lasting. NoWait makes it fail at once where it would wait in order to
// broadcast. It still waits for the outcome, and may end without knowing it: in the situations
// Reporting and Merging the operation is broadcast, and waits at all members.
func (r *Replica) SubmitWith(ctx context.Context, command []byte, opts failaware.BroadcastOptions) (Applied, error) {
	if opts.Order.Class() != broadcast.ClassOrdered {
		return Applied{}, fmt.Errorf("%w: an operation needs TotalOrder or TimedOrder", failaware.ErrMessageOptions)
	}
	if err := r.fits(command, OperationOverhead); err != nil {
		return Applied{}, err
	}
	return r.submit(ctx, session.AppendPlain(operation(len(command)), command), opts)
}

// How many bytes of the broadcast's MaxPayload an operation takes besides its command.
const (
	OperationOverhead = 2                    // of [Replica.Submit] and [Replica.SubmitWith]
	SessionOverhead   = 1 + session.Overhead // 27, of [Session.Submit]
)

// fits returns an error if an operation of a command is too large for the broadcast.
func (r *Replica) fits(command []byte, overhead int) error {
	if len(command) <= r.maxPayload-overhead {
		return nil
	}
	return fmt.Errorf("%w: the command has %d bytes, and with a MaxPayload of %d at most %d", failaware.ErrTooLarge,
		len(command), r.maxPayload, max(r.maxPayload-overhead, 0))
}

// submit broadcasts the payload of an operation.
func (r *Replica) submit(ctx context.Context, payload []byte, opts failaware.BroadcastOptions) (Applied, error) {
	v, err := r.send(ctx, payload, opts, nil)
	if err != nil {
		return Applied{}, err
	}
	a := appliedOf(&v)
	if r.lasts && !v.Lasting && opts.Atomicity == failaware.StrictAtomicity {
		if err := r.confirm(ctx, a.ID, v.Restores); err != nil {
			return Applied{}, err
		}
		a.Lasting = true
	}
	return a, nil
}

// appliedOf returns the outcome of an operation with a verdict.
func appliedOf(v *engine.Verdict) Applied {
	m := &v.Message
	return Applied{ID: m.ID, Result: v.Result, Transitional: m.Transitional, Lasting: v.Lasting, Stamp: m.Stamp, Deviation: m.Deviation}
}

// send broadcasts, once operations are accepted, and waits for the verdict. at, if
// not nil, is called with a verdict at its place among the calls of the application.
func (r *Replica) send(ctx context.Context, payload []byte, opts failaware.BroadcastOptions, at func(engine.Verdict)) (engine.Verdict, error) {
	if r.engine.Waited() {
		return engine.Verdict{}, ErrInside
	}
	outcomes := &r.engine.Outcomes
	w := outcomes.Wait(at)
	defer outcomes.Over(w)
	id, err := r.queue(ctx, payload, opts, w.Queued)
	if err != nil {
		return engine.Verdict{}, err
	}
	select {
	case <-w.Given:
	case <-ctx.Done():
		if outcomes.Forget(id) {
			return engine.Verdict{}, &failaware.UnknownOutcomeError{ID: id, Reason: failaware.NotAwaited, Err: context.Cause(ctx)}
		}
		<-w.Given // it is just being given
	}
	if why := w.Verdict.Unknown; why != "" {
		return w.Verdict, &failaware.UnknownOutcomeError{ID: id, Reason: why}
	}
	return w.Verdict, nil
}

// queue broadcasts, once operations are accepted. queued is called with the id before the
// message can be delivered.
func (r *Replica) queue(ctx context.Context, payload []byte, opts failaware.BroadcastOptions, queued func(failaware.MessageID)) (failaware.MessageID, error) {
	for {
		if err := r.accepting(ctx, opts.NoWait); err != nil {
			return failaware.MessageID{}, err
		}
		id, err := r.broadcast(ctx, payload, broadcast.Options{Order: opts.Order, Atomicity: opts.Atomicity}, opts.NoWait, queued)
		if !errors.Is(err, failaware.ErrNoQuorum) {
			return id, err
		}
		if err := r.pause(ctx, opts.NoWait); err != nil { // the replica does not know of the view yet
			return id, err
		}
	}
}

// accepting waits until operations are accepted.
func (r *Replica) accepting(ctx context.Context, noWait bool) error {
	for !r.engine.Accepting() {
		status, changed := r.engine.Status()
		if status.Accepting {
			return nil
		}
		if noWait {
			return refusal(&status, nil)
		}
		select {
		case <-changed:
		case <-r.done:
			return failaware.ErrClosed
		case <-ctx.Done():
			return refusal(&status, context.Cause(ctx))
		}
	}
	return nil
}

// refusal returns the error of an operation that was not accepted in a situation.
func refusal(s *engine.Status, err error) error {
	return &NotAcceptingError{Situation: s.Situation, Absent: s.Absent, Full: s.Full, Err: err}
}

// confirm waits until everything that this node has applied lasts. If another state replaces
// that of this node before, it may contain the operation or not.
func (r *Replica) confirm(ctx context.Context, id failaware.MessageID, restores uint64) error {
	v, err := r.barrier(ctx, nil)
	switch {
	case errors.Is(err, failaware.ErrClosed):
		return &failaware.UnknownOutcomeError{ID: id, Reason: failaware.NodeStopped}
	case err != nil:
		return &failaware.UnknownOutcomeError{ID: id, Reason: failaware.NotAwaited, Err: err}
	case v.Restores != restores:
		return &failaware.UnknownOutcomeError{ID: id, Reason: StateDiscarded}
	}
	return nil
}

// barrier waits for a barrier of this node that is delivered as regular, with
// RequireQuorum as lasting, while the node has the state of the view. at is called at
// its place among the calls of the application. A barrier that fails is tried again.
// Disks take their time, so with Storage at is called before the barrier lasts, and what
// it saw counts if a later barrier lasts on top of the same state.
func (r *Replica) barrier(ctx context.Context, at func()) (engine.Verdict, error) {
	v, err := tryBarriers(r.lasts, r.stored, at, func(again bool, place func(engine.Verdict)) (engine.Verdict, error) {
		if again {
			if err := r.pause(ctx, false); err != nil {
				return engine.Verdict{}, err
			}
		}
		return r.send(ctx, replica.AppendBarrier(nil), ordered, place)
	})
	switch {
	case errors.Is(err, ErrStateReplaced):
		err = r.notAccepting(err)
	case err != nil:
		err = r.why(err)
	}
	return v, err
}

// tryBarriers is barrier, for a function try that broadcasts one, and waits before another.
// lasts says that a barrier must last, and stored that this takes a while.
func tryBarriers(lasts, stored bool, at func(), try func(again bool, place func(engine.Verdict)) (engine.Verdict, error)) (engine.Verdict, error) {
	good := func(v engine.Verdict) bool {
		kept := !v.Message.Transitional && (v.Lasting || !lasts)
		return v.Unknown == "" && kept
	}
	called, restores := at == nil, uint64(0)
	place := func(v engine.Verdict) {
		if !called && (good(v) || stored && !v.Message.Transitional) {
			called, restores = true, v.Restores
			at()
		}
	}
	for again := false; ; again = true {
		v, err := try(again, place)
		unknown, ok := errors.AsType[*failaware.UnknownOutcomeError](err)
		switch {
		case err == nil && good(v) && called:
			if at != nil && v.Restores != restores {
				return v, ErrStateReplaced
			}
			return v, nil
		case err != nil && (!ok || unknown.Reason == failaware.NotAwaited || unknown.Reason == failaware.NodeStopped):
			return v, err
		}
	}
}

// why returns the error of a barrier in terms of the replica.
func (r *Replica) why(err error) error {
	unknown, ok := errors.AsType[*failaware.UnknownOutcomeError](err)
	switch {
	case !ok:
		return err
	case unknown.Reason == failaware.NodeStopped:
		return failaware.ErrClosed
	}
	return r.notAccepting(unknown.Err)
}

// pause waits a moment before another attempt.
func (r *Replica) pause(ctx context.Context, noWait bool) error {
	if noWait {
		return &NotAcceptingError{Situation: NoQuorum}
	}
	timer := time.NewTimer(r.node.Config().Timing.OneWayTimeout)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.done:
		return failaware.ErrClosed
	case <-ctx.Done():
		return r.notAccepting(context.Cause(ctx))
	}
}

// notAccepting returns an error with the present situation.
func (r *Replica) notAccepting(err error) error {
	p := r.Progress()
	return &NotAcceptingError{Situation: p.Situation, Absent: p.Absent, Full: p.Full, Err: err}
}
