package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/failaware/failaware"
)

// attemptOf returns the attempt that the parameters session and number describe.
func attemptOf(values url.Values) (a Attempt, err error) {
	if values.Has("session") != values.Has("number") {
		return a, badRequest{errors.New("session and number belong together: the number names one command of the session")}
	}
	if !values.Has("session") {
		return a, nil
	}
	if a.Session, err = sessionOf(values); err != nil {
		return a, err
	}
	if a.Number, err = ParseNumber(values.Get("number")); err != nil {
		return a, badRequest{fmt.Errorf("number: %w", err)}
	}
	return a, nil
}

// sessionOf returns the parameter session.
func sessionOf(values url.Values) (failaware.MessageID, error) {
	id, err := ParseSession(values.Get("session"))
	if err != nil {
		return id, badRequest{fmt.Errorf("session: %w", err)}
	}
	return id, nil
}

// ParseSession parses the id of a session.
func ParseSession(text string) (id failaware.MessageID, err error) {
	if id.UnmarshalText([]byte(text)) != nil {
		return id, fmt.Errorf("%.60q is not the id of a session such as 3/00c0ffee00c0ffee/o12", text)
	}
	return id, nil
}

// ParseNumber parses the number of a command in a session.
func ParseNumber(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%.40q is not a number from 1 to %d", text, int64(math.MaxInt64))
	}
	return n, nil
}

func (s *Server) kvOpenSession(ctx context.Context, w http.ResponseWriter, _ *http.Request) error {
	id, err := s.store.OpenSession(ctx)
	if err != nil {
		return err
	}
	Answer(w, http.StatusOK, KVSession{id.String()})
	return nil
}

func (s *Server) kvCloseSession(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	id, err := sessionOf(q.URL.Query())
	if err != nil {
		return err
	}
	if err := s.store.CloseSession(ctx, id); err != nil {
		return err
	}
	Answer(w, http.StatusOK, Done{true})
	return nil
}
