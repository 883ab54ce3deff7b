package replicate

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Errors to compare with [errors.Is].
var (
	// ErrLate: deliveries of the node were received before [Start]. The replica would miss
	// them.
	ErrLate = errors.New("replicate: deliveries were received before Start")
	// ErrInside: a method of the application, the function of ReadLatest or that of
	// [Config.OnEvent] has called a method that waits for the replica, which waits for its caller.
	ErrInside = engine.ErrInside
	// ErrMixed ends a replica without a state, and its node: the members that have a state
	// have a [Config.Storage] and it has none, or the other way round.
	ErrMixed = engine.ErrMixed
	// ErrOwner: the [Config.Storage] has the state of another node, or of another group, or
	// files of it.
	ErrOwner = engine.ErrOwner
	// ErrNotAccepting: the replica takes no operations now. A [*NotAcceptingError] says
	// why.
	ErrNotAccepting = errors.New("replicate: the replica takes no operations")
	// ErrRecovering: too few members of the view remember the state. A [*NotAcceptingError]
	// that matches it names the absent nodes.
	ErrRecovering = errors.New("replicate: too few members remember the state")
	// ErrStateReplaced: what ReadLatest read came to last in no state, since that of others
	// took its place. Another attempt may succeed.
	ErrStateReplaced = errors.New("replicate: the state was replaced by that of others while it was read")
)

// NotAcceptingError says why an operation was not submitted. It matches
// [ErrNotAccepting], and [failaware.ErrNoQuorum] or [ErrRecovering] if that is why.
type NotAcceptingError struct {
	// Situation is why, unless Full is. If it is Working, the time ended before the
	// replica had done what it was asked, unless Err is [ErrStateReplaced]. In the situations
	// Merging and Reporting, [Config.MaxQueued] bytes of operations wait already: before
	// that, operations are broadcast there.
	Situation Situation
	Absent    failaware.Set // nodes of the group that are missed, if the situation is Recovering
	Full      error         // why the disk of this node has no room for the state, or nil
	Err       error         // the cause of the context, or ErrStateReplaced; nil with NoWait
}

func (e *NotAcceptingError) Error() string {
	if e.Err == ErrStateReplaced {
		return e.Err.Error()
	}
	text := fmt.Sprintf("%v: %v", ErrNotAccepting, e.Situation)
	if e.Situation == Working && e.Full == nil { // it takes operations again, too late
		text = "replicate: nothing went through in time"
	}
	if e.Situation == Recovering {
		text += fmt.Sprintf(", and nodes %v are absent", e.Absent)
	}
	if e.Full != nil {
		text += ": " + e.Full.Error()
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is reports whether target is ErrNotAccepting, or ErrNoQuorum or ErrRecovering if that is
// why.
func (e *NotAcceptingError) Is(target error) bool {
	switch target {
	case ErrNotAccepting:
		return true
	case failaware.ErrNoQuorum:
		return e.Situation == NoQuorum
	case ErrRecovering:
		return e.Situation == Recovering
	}
	return false
}

// Unwrap returns Err.
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
