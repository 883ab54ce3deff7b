package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// earlier ends the errors that say nothing about earlier attempts.
const earlier = ": this attempt has changed nothing; whether an earlier one did is not known"

// sessionErrors are the errors of sessions in the words of the store.
var sessionErrors = map[error]*api.SessionError{
	replicate.ErrSessionExpired: {Code: http.StatusGone,
		Text: fmt.Sprintf("the session is not known, or no longer: it was closed, or gave way to later ones, as the store keeps %d sessions", replicate.MaxSessions) + earlier},
	replicate.ErrSessionNumber: {Code: http.StatusGone,
		Text: fmt.Sprintf("the session remembers its last %d numbers, and this one is before them, or none could follow it", replicate.SessionWindow) + earlier},
	replicate.ErrSessionReused: {Code: http.StatusUnprocessableEntity,
		Text: "another command has this number of the session, and was carried out: give each command its own"},
	replicate.ErrResultGone: {Code: http.StatusGone, Text: "an earlier attempt was carried out, and its result is not kept"},
}

// attempt has a command applied, in a session unless it is in none.
func (s *Store) attempt(ctx context.Context, command []byte, in api.Attempt) (replicate.Applied, error) {
	if in.Number == 0 {
		return s.replica.Submit(ctx, command)
	}
	return s.replica.Session(replicate.SessionID(in.Session)).Submit(ctx, in.Number, command)
}

// resultOf returns the result of a command. Sessions keep it as bytes.
func resultOf(result any) (r kv.Result, err error) {
	if b, kept := result.([]byte); kept {
		if r.UnmarshalBinary(b) != nil {
			return r, sessionErrors[replicate.ErrResultGone] // another build wrote it
		}
		return r, nil
	}
	return result.(kv.Result), nil
}

// OpenSession implements [api.Store].
func (s *Store) OpenSession(ctx context.Context) (failaware.MessageID, error) {
	one, err := s.replica.OpenSession(ctx)
	switch {
	case errors.Is(err, failaware.ErrOutcomeUnknown):
		return failaware.MessageID{}, unopened(s.hindrances(s.replica.Progress()))
	case err != nil:
		return failaware.MessageID{}, s.explain(err)
	}
	return failaware.MessageID(one.ID()), nil
}

// unopened says why a session was not opened in time. Whether it is open later changes nothing:
// it is nobody's, and gives way to others.
func unopened(hindrances []string) error {
	text := "nothing was changed: the store did not open a session in time"
	if len(hindrances) > 0 {
		text += ": " + strings.Join(hindrances, "; ")
	}
	return &api.SessionError{Code: http.StatusServiceUnavailable, Text: text + "; 'failaware kv status' says what it waits for"}
}

// CloseSession implements [api.Store].
func (s *Store) CloseSession(ctx context.Context, id failaware.MessageID) error {
	if err := s.replica.Session(replicate.SessionID(id)).Close(ctx); err != nil {
		return s.explain(err)
	}
	return nil
}
