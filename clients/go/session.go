package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"time"
)

// Limits of a [Session].
const (
	// AttemptTime is how long one node may take for one attempt at a command.
	AttemptTime = 5 * time.Second
	// CommandTime is how long a command is tried if its context has no deadline.
	CommandTime = time.Minute

	againAfter = 100 * time.Millisecond // between two attempts
)

// Session carries out each command of the key-value store once, although answers can be
// lost: while the outcome of a command is unknown, it is sent again under the same number,
// to one node after the other, until its context ends, at most for [CommandTime] if that has
// no deadline. Each attempt gets the result of the first that was carried out.
//
// Commands of one session follow each other. Open a session for each goroutine that is not
// to wait for others.
type Session struct {
	id    string
	nodes []*ClientWithResponses
	at    int           // the node that is asked next
	next  int64         // the number of the next command
	sent  bool          // the next command may have been sent before
	turn  chan struct{} // held by the command under way
}

// ErrUnknownOutcome: the command may have been carried out, or may yet be. An
// [*UnknownOutcomeError] says how to go on.
var ErrUnknownOutcome = errors.New("failaware: the outcome of the command is unknown")

// UnknownOutcomeError is the end of a command whose outcome was still unknown. To learn it,
// call ResumeSession(Session, Number, …), and the same command. With Ended nobody
// can: the group has forgotten the session. Session is empty if a [Writer] sent the command
// without one.
type UnknownOutcomeError struct {
	Session string
	Number  int64
	Ended   bool
	Err     error // of the last attempt
}

func (e *UnknownOutcomeError) Error() string {
	if e.Session == "" {
		return fmt.Sprintf("%v: %v", ErrUnknownOutcome, e.Err)
	}
	return fmt.Sprintf("%v (number %d of session %s): %v", ErrUnknownOutcome, e.Number, e.Session, e.Err)
}

// Is reports whether target is ErrUnknownOutcome.
func (e *UnknownOutcomeError) Is(target error) bool { return target == ErrUnknownOutcome }

// Unwrap returns the error of the last attempt.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// OpenSession opens a session in the store of a group, of which it gets one node or
// several.
func OpenSession(ctx context.Context, nodes ...*ClientWithResponses) (*Session, error) {
	s := ResumeSession("", 1, nodes...)
	s.sent = false
	var opened KVSession
	err := s.persist(ctx, &opened, func(ctx context.Context, c *ClientWithResponses) (*http.Response, error) {
		return c.KvSessionOpen(ctx, &KvSessionOpenParams{})
	})
	if err != nil {
		return nil, harmless(err)
	}
	s.id = opened.Session
	return s, nil
}

// harmless returns the error of a command that may be carried out more than once: a session
// whose answer was lost is nobody's, and gives way to others in time.
func harmless(err error) error {
	if e, ok := errors.AsType[*UnknownOutcomeError](err); ok {
		return e.Err
	}
	return err
}

// ResumeSession goes on with a session that was opened before, perhaps by another process.
// next is the number of the next command: one more than that of the last, or that of a
// command whose outcome is unknown, to send it again. If id or next has the wrong form, nothing
// is sent, and each command says so.
func ResumeSession(id string, next int64, nodes ...*ClientWithResponses) *Session {
	return &Session{id: id, nodes: nodes, next: next, sent: true, turn: make(chan struct{}, 1)}
}

// idForm is the form of the id of a session.
var idForm = regexp.MustCompile(`^[0-9]+/[0-9A-Fa-f]+/[ou][0-9]+$`)

// check returns an error if no node can have the session, or no session the number.
func (s *Session) check(number int64) error {
	switch {
	case !idForm.MatchString(s.id):
		return fmt.Errorf("failaware: %.60q is not the id of a session such as 3/00c0ffee00c0ffee/o12", s.id)
	case number < 1:
		return fmt.Errorf("failaware: %d is not the number of a command: the first is 1", number)
	}
	return nil
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.id }

// Put writes a key. The answer's Status says what came of it; Session and Number of the
// parameters are set. The error, if any, matches [ErrUnknownOutcome], or nothing was changed.
func (s *Session) Put(ctx context.Context, p KvPutParams, value []byte) (*KVWrite, error) {
	return s.write(ctx, func(ctx context.Context, c *ClientWithResponses, number int64) (*http.Response, error) {
		p.Session, p.Number = &s.id, &number
		return c.KvPutWithBody(ctx, &p, octets, bytes.NewReader(value))
	})
}

// Cas is [Session.Put] for a key that must have a version.
func (s *Session) Cas(ctx context.Context, p KvCasParams, value []byte) (*KVWrite, error) {
	return s.write(ctx, func(ctx context.Context, c *ClientWithResponses, number int64) (*http.Response, error) {
		p.Session, p.Number = &s.id, &number
		return c.KvCasWithBody(ctx, &p, octets, bytes.NewReader(value))
	})
}

// Delete deletes a key, like [Session.Put].
func (s *Session) Delete(ctx context.Context, p KvDeleteParams) (*KVWrite, error) {
	return s.write(ctx, func(ctx context.Context, c *ClientWithResponses, number int64) (*http.Response, error) {
		p.Session, p.Number = &s.id, &number
		return c.KvDelete(ctx, &p)
	})
}

const octets = "application/octet-stream"

// Close ends the session, when no outcome is waited for. One that stays open gives way to
// others in time.
func (s *Session) Close(ctx context.Context) error {
	return harmless(s.persist(ctx, new(Done), func(ctx context.Context, c *ClientWithResponses) (*http.Response, error) {
		return c.KvSessionClose(ctx, &KvSessionCloseParams{Session: s.id})
	}))
}

// write sends the next command until its outcome is known.
func (s *Session) write(ctx context.Context, send func(context.Context, *ClientWithResponses, int64) (*http.Response, error)) (*KVWrite, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	number := s.next
	if err := s.check(number); err != nil {
		return nil, err
	}
	s.next++
	answer := new(KVWrite)
	err := s.persist(ctx, answer, func(ctx context.Context, c *ClientWithResponses) (*http.Response, error) {
		*answer = KVWrite{} // nothing of an earlier attempt
		return send(ctx, c, number)
	})
	s.sent = false
	if e, ok := errors.AsType[*UnknownOutcomeError](err); ok {
		e.Session, e.Number = s.id, number
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// persist asks one node after the other until one knows the answer. Once an answer was lost,
// that a later attempt is refused says nothing about the earlier one.
func (s *Session) persist(ctx context.Context, answer any, send func(context.Context, *ClientWithResponses) (*http.Response, error)) error {
	if len(s.nodes) == 0 {
		return errors.New("failaware: a session needs a node")
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, CommandTime)
		defer cancel()
	}
	unknown := s.sent
	for asked := 1; ; asked++ {
		outcome, err := s.attempt(ctx, answer, send)
		switch {
		case outcome == known, outcome == refused && !unknown:
			return err
		case outcome == ended:
			return &UnknownOutcomeError{Ended: true, Err: err}
		case outcome == lost:
			unknown = true
		case !unknown && asked >= len(s.nodes):
			return err
		}
		s.at = (s.at + 1) % len(s.nodes)
		select {
		case <-time.After(againAfter):
			continue
		case <-ctx.Done():
		}
		if unknown {
			return &UnknownOutcomeError{Err: err}
		}
		return err
	}
}

// outcome is what an attempt says about a command.
type outcome int

const (
	known     outcome = iota // its result
	refused                  // this attempt is wrong
	notTaken                 // this attempt was not taken, and another one may be
	lost                     // this attempt may be carried out
	ended                    // nobody knows what came of earlier attempts
	malformed                // a request of several commands is refused, maybe for one of them
)

// attempt asks the present node.
func (s *Session) attempt(ctx context.Context, answer any, send func(context.Context, *ClientWithResponses) (*http.Response, error)) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, AttemptTime)
	defer cancel()
	res, err := send(ctx, s.nodes[s.at])
	if err != nil {
		return unanswered(err), err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK, http.StatusNotFound, http.StatusConflict, http.StatusInsufficientStorage:
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return lost, err
		}
		err = json.Unmarshal(b, answer)
		if res.StatusCode == http.StatusOK && err != nil {
			return lost, err
		}
		if w, ok := answer.(*KVWrite); res.StatusCode != http.StatusOK && (err != nil || !ok || w.Status == "") {
			return unlessDenied(res.StatusCode), refusalOf(res, b) // as by an old node, or one without a store
		}
		return known, nil
	case http.StatusServiceUnavailable:
		err := refusal(res)
		if !err.ofNode {
			return lost, err // a proxy's: the node may have carried it out
		}
		return notTaken, err
	case http.StatusGone:
		return ended, refusal(res)
	}
	return unlessDenied(res.StatusCode), refusal(res)
}

// unanswered returns what the error of a request without an answer says: without a connection, or
// without trust, nothing was carried out.
func unanswered(err error) outcome {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" || Denied(err) {
		return notTaken
	}
	return lost
}

// unlessDenied returns lost unless a status code says that an attempt is not carried out.
// Proxies have codes of their own for answers that they have lost.
func unlessDenied(code int) outcome {
	if code/100 == 3 || code/100 == 4 || code == http.StatusNotImplemented {
		return refused
	}
	return lost
}
