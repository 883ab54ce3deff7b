package replicate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
)

// Limits of sessions. They are the same at all nodes, which must all keep the same results.
const (
	// MaxSessions is how many sessions a state keeps. When another is opened, the least
	// recently used one expires.
	MaxSessions = 4096
	// SessionWindow is how many numbers of a session are remembered, up to the largest
	// that was applied.
	SessionWindow = 16
	// SessionResults is how many bytes of results one session keeps, of the latest that fit.
	SessionResults = 4096
)

// Errors of operations in a session.
var (
	// ErrSessionExpired: the session was closed, or gave way to later ones
	// ([MaxSessions]), or was never opened. The operation is not applied. An earlier
	// attempt may have been.
	ErrSessionExpired = errors.New("replicate: the session has expired")
	// ErrSessionNumber: the number is 0, the largest of 64 bits, or before the [SessionWindow].
	// The operation is not applied. An earlier attempt may have been.
	ErrSessionNumber = errors.New("replicate: not a number of the session, or too far behind its largest")
	// ErrSessionReused: another command has that number, and was applied.
	ErrSessionReused = errors.New("replicate: another command has this number of the session")
	// ErrResultGone: the operation was applied by an earlier attempt, and its result is not
	// kept: it was too large, of a type that is not kept, or came before many others.
	ErrResultGone = errors.New("replicate: the operation was applied before, and its result is not kept")
)

var sessionErrors = map[error]error{session.ErrExpired: ErrSessionExpired, session.ErrTooOld: ErrSessionNumber,
	session.ErrReused: ErrSessionReused, session.ErrResultGone: ErrResultGone}

// SessionID names a session uniquely in the group. A client that keeps its text continues the
// session after a restart.
type SessionID failaware.MessageID

// String returns the text of the id, as in "3/00c0ffee00c0ffee/o12".
func (id SessionID) String() string { return failaware.MessageID(id).String() }

// MarshalText returns the text of [SessionID.String].
func (id SessionID) MarshalText() ([]byte, error) { return failaware.MessageID(id).MarshalText() }

// UnmarshalText reads the text of [SessionID.String].
func (id *SessionID) UnmarshalText(text []byte) error {
	return (*failaware.MessageID)(id).UnmarshalText(text)
}

// Session applies each operation once: the client numbers them, and submits each again, at
// any node, until it knows the outcome. The memory of a session is part of the replicated
// state: it is in snapshots, on disks, and in merged states.
//
// A result is kept for further attempts if it is nil, a bool, int, int64, uint64, string or
// []byte, and has less than [SessionResults] bytes. Of an [encoding.BinaryMarshaler],
// further attempts get the bytes.
//
// A Session needs no end. One that is not used any more expires when there are too many.
// Methods are safe for concurrent use.
type Session struct {
	r       *Replica
	id      SessionID
	largest atomic.Uint64
}

// OpenSession begins a session. The error is that of [Replica.Submit]. If it matches
// [failaware.ErrOutcomeUnknown], there may be an unused session.
func (r *Replica) OpenSession(ctx context.Context) (*Session, error) {
	a, err := r.attempt(ctx, session.AppendOpen(operation(0)))
	if err != nil {
		return nil, err
	}
	return r.Session(SessionID(a.ID)), nil
}

// Session returns a session that was opened before, at this node or another one, by this
// process or an earlier one. It sends nothing: an operation says whether the session
// exists.
func (r *Replica) Session(id SessionID) *Session { return &Session{r: r, id: id} }

// ID returns the id, with which other nodes and processes continue with the session.
func (s *Session) ID() SessionID { return s.id }

// Next returns the number after the largest that this Session has returned, or was given.
// It does not know the numbers of an earlier process. So a client that continues with a
// session after a restart must have written down each number, with its command, before it
// submitted them, and submits the last one again first.
func (s *Session) Next() uint64 { return s.largest.Add(1) }

// Submit is [Replica.Submit] for the operation with a number of the session. The client
// chooses numbers from 1 on, one for each operation, in ascending order. An operation that
// was applied before is not applied again; Submit returns its first result, and Repeated is
// set. As long as the outcome is unknown Submit tries again by itself, until ctx ends or
// the node stops.
//
// After an error that matches [failaware.ErrOutcomeUnknown], the client submits the same
// number with the same command again, here or at another node. It may go on with other
// numbers meanwhile, fewer than [SessionWindow].
//
// Other errors are those of [Replica.Submit], [ErrSessionExpired], [ErrSessionNumber],
// [ErrSessionReused] and [ErrResultGone].
//
// A command takes [SessionOverhead] bytes more of the broadcast's MaxPayload than it has.
//
// Without RequireQuorum, an attempt in another part of a split group is applied there as
// well, and Merge finds the operation in both states.
func (s *Session) Submit(ctx context.Context, number uint64, command []byte) (Applied, error) {
	if number == 0 || number == math.MaxUint64 { // no number follows the largest
		return Applied{}, fmt.Errorf("%w: %d", ErrSessionNumber, number)
	}
	if err := s.r.fits(command, SessionOverhead); err != nil {
		return Applied{}, err
	}
	for {
		largest := s.largest.Load()
		if number <= largest || s.largest.CompareAndSwap(largest, number) {
			break
		}
	}
	return s.r.attempt(ctx, session.AppendUse(operation(len(command)), s.key(), number, command))
}

// Close ends the session for all clients. None of them may wait for an outcome: another part
// of a split group that has the session brings it back when the parts meet, and its copy does
// not have the operations that were applied here. Closing again does nothing. The error is
// that of [Replica.Submit].
func (s *Session) Close(ctx context.Context) error {
	_, err := s.r.attempt(ctx, session.AppendClose(operation(0), s.key()))
	return err
}

func (s *Session) key() session.ID {
	return session.ID{Node: s.id.Sender, Boot: s.id.Boot, Sequence: s.id.Sequence}
}

// operation returns the beginning of a payload, with room for an operation of size bytes.
func operation(size int) []byte {
	return replica.AppendOp(make([]byte, 0, 1+session.Overhead+size), nil)
}

// attempt submits an operation about sessions until its outcome is known.
func (r *Replica) attempt(ctx context.Context, payload []byte) (Applied, error) {
	a, err := untilKnown(func() (Applied, error) { return r.submit(ctx, payload, ordered) }, func() error { return r.pause(ctx, false) })
	if err != nil {
		return Applied{}, err
	}
	answer := a.Result.(session.Answer)
	a.Result, a.Repeated = answer.Result, answer.Repeated
	return a, sessionError(answer.Err)
}

// untilKnown calls submit, with pauses, until the outcome is known or another attempt cannot
// help. If an attempt is not submitted, the outcome of the earlier ones is still unknown.
func untilKnown(submit func() (Applied, error), pause func() error) (Applied, error) {
	var unknown *failaware.UnknownOutcomeError // of the last attempt that was submitted
	for {
		a, err := submit()
		if u, ok := errors.AsType[*failaware.UnknownOutcomeError](err); ok {
			unknown = u
		}
		switch {
		case err == nil:
			return a, nil
		case unknown == nil:
			return Applied{}, err
		case !errors.Is(err, failaware.ErrOutcomeUnknown):
			return Applied{}, &failaware.UnknownOutcomeError{ID: unknown.ID, Reason: failaware.NotAwaited, Err: err}
		case unknown.Reason == failaware.NotAwaited || unknown.Reason == failaware.NodeStopped:
			return Applied{}, unknown
		}
		if err := pause(); err != nil {
			return Applied{}, &failaware.UnknownOutcomeError{ID: unknown.ID, Reason: failaware.NotAwaited, Err: err}
		}
	}
}

func sessionError(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := sessionErrors[err]; ok {
		return known
	}
	return fmt.Errorf("replicate: %w", err)
}
