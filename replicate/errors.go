package replicate

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Errors to compare with [errors.Is].
var (
	// ErrLate: deliveries of the node were received before [Start], which the replica
	// would miss.
	ErrLate = errors.New("replicate: deliveries were received before Start")
	// ErrNotAccepting: the replica takes no operations now. A [*NotAcceptingError] says
	// why.
	ErrNotAccepting = errors.New("replicate: the replica takes no operations")
)

// NotAcceptingError says why an operation was not submitted. It matches
// [ErrNotAccepting], and [failaware.ErrNoQuorum] if that is why.
type NotAcceptingError struct {
	// Situation is why: no view, no quorum, or so much waits for a merge, or for the
	// reports of all members, that no more may.
	Situation Situation
	Err       error // the cause of the context, nil with NoWait
}

func (e *NotAcceptingError) Error() string {
	text := fmt.Sprintf("%v: %v", ErrNotAccepting, e.Situation)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is reports whether target is ErrNotAccepting, or ErrNoQuorum if that is why.
func (e *NotAcceptingError) Is(target error) bool {
	return target == ErrNotAccepting || target == failaware.ErrNoQuorum && e.Situation == NoQuorum
}

// Unwrap returns the cause of the context, if that ended the wait.
func (e *NotAcceptingError) Unwrap() error { return e.Err }

// More reasons why an outcome is not known, of [Replica.Submit].
const (
	// NotAppliedHere: the operation was delivered while this node had no state. It is in
	// the state that the node gets from others, unless that is lost.
	NotAppliedHere failaware.UnknownReason = engine.NotAppliedHere
	// StateDiscarded: the operation was applied, and then the state gave way to that of
	// a quorum, which may contain it or not.
	StateDiscarded failaware.UnknownReason = "the state that it was applied to gave way to another"
)
