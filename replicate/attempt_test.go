package replicate

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// attempts plays the outcomes of attempts, and returns that of all of them.
func attempts(outcomes ...error) (calls int, err error) {
	_, err = untilKnown(func() (Applied, error) {
		err := outcomes[calls]
		calls++
		return Applied{}, err
	}, func() error { return nil })
	return calls, err
}

func unknownFor(reason failaware.UnknownReason) error {
	return &failaware.UnknownOutcomeError{ID: failaware.MessageID{Sequence: 7}, Reason: reason}
}

// failsAfterUnknown has an attempt fail after one with an unknown outcome.
func failsAfterUnknown() error {
	_, err := attempts(unknownFor(failaware.IncarnationEnded), &NotAcceptingError{Err: context.Canceled})
	return err
}

func TestAttemptsEndWhenTheOutcomeIsKnown(t *testing.T) {
	calls, err := attempts(unknownFor(failaware.OrderedElsewhere), unknownFor(StateDiscarded), nil)
	require.NoError(t, err)
	require.Equal(t, 3, calls)
	for _, reason := range []failaware.UnknownReason{failaware.NotAwaited, failaware.NodeStopped} {
		calls, err := attempts(unknownFor(reason))
		require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
		require.Equal(t, 1, calls)
	}
	calls, err = attempts(failaware.ErrTooLarge)
	require.Equal(t, failaware.ErrTooLarge, err)
	require.Equal(t, 1, calls)
}

func TestAnAttemptThatFailsLeavesTheOutcomeUnknown(t *testing.T) {
	err := failsAfterUnknown()
	require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
	require.ErrorIs(t, err, context.Canceled)
}

// pauseFails has the wait for another attempt end, as with its context, after an attempt with an
// unknown outcome.
func pauseFails(t testing.TB) {
	calls := 0
	_, err := untilKnown(func() (Applied, error) { calls++; return Applied{}, unknownFor(failaware.OrderedElsewhere) },
		func() error { return &NotAcceptingError{Err: context.Canceled} })
	require.Equal(t, 1, calls)
	require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
	require.ErrorIs(t, err, context.Canceled)
	unknown, ok := errors.AsType[*failaware.UnknownOutcomeError](err)
	require.True(t, ok)
	require.EqualValues(t, 7, unknown.ID.Sequence)
}

func TestAPauseThatFailsLeavesTheOutcomeUnknown(t *testing.T) { pauseFails(t) }

// outcomesSayAll requires that the outcome of an operation says all that its verdict does.
func outcomesSayAll(t testing.TB) {
	id := failaware.MessageID{Sender: 1, Boot: 2, Sequence: 3}
	v := engine.Verdict{Message: broadcast.Delivery{ID: id, Transitional: true, Stamp: 4, Deviation: 5}, Result: "x", Lasting: true}
	require.Equal(t, Applied{ID: id, Result: "x", Transitional: true, Lasting: true, Stamp: 4, Deviation: 5}, appliedOf(&v))
}

func TestOutcomesSayAllThatIsKnown(t *testing.T) { outcomesSayAll(t) }

// Who does not wait is not made to wait where a view has just lost its quorum.
func TestAPauseIsARefusalToWhoDoesNotWait(t *testing.T) {
	err := (&Replica{}).pause(t.Context(), true)
	require.ErrorIs(t, err, ErrNotAccepting)
	require.ErrorIs(t, err, failaware.ErrNoQuorum)
}

// messagesSayAll requires that a message beside the operations says all that its delivery does.
func messagesSayAll(t testing.TB) {
	d := broadcast.Delivery{ID: failaware.MessageID{Sender: 1, Boot: 2, Sequence: 3}, Transitional: true, Stamp: 4, Deviation: 5, Payload: []byte("x"),
		Options: broadcast.Options{Order: failaware.TimedOrder, Atomicity: failaware.StrongAtomicity}}
	require.Equal(t, Message{ID: d.ID, Order: failaware.TimedOrder, Atomicity: failaware.StrongAtomicity, Transitional: true, Payload: d.Payload, Stamp: 4, Deviation: 5}, messageOf(&d))
}

func TestMessagesSayAllThatIsKnown(t *testing.T) { messagesSayAll(t) }

// Who waits for a barrier, or for an operation to last, hears that the node has stopped.
func TestBarriersEndWithTheNode(t *testing.T) {
	e, err := engine.New(replica.Config{}, nil, newAdapter(nil), nil, nil, nil)
	require.NoError(t, err)
	r := &Replica{engine: e, done: make(chan struct{})}
	require.Equal(t, failaware.ErrClosed, r.why(unknownFor(failaware.NodeStopped)))
	close(r.done)
	_, err = r.barrier(t.Context(), nil)
	require.Equal(t, failaware.ErrClosed, err)
	var unknown *failaware.UnknownOutcomeError
	require.ErrorAs(t, r.confirm(t.Context(), failaware.MessageID{Sender: 1, Boot: 2, Sequence: 3}, 0), &unknown)
	require.Equal(t, failaware.NodeStopped, unknown.Reason)
	require.EqualValues(t, 3, unknown.ID.Sequence)
}
