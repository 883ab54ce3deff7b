package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/failaware/failaware/internal/kv"
)

// submit carries out a command with the parameters of a request, and answers with its result.
func (s *Server) submit(ctx context.Context, w http.ResponseWriter, values url.Values, c kv.Command) error {
	in, err := attemptOf(values)
	if err != nil {
		return err
	}
	code, a, err := s.carryOut(ctx, c, in)
	if err != nil {
		return err
	}
	Answer(w, code, a)
	return nil
}

// carryOut submits a command. It returns its result, and the status code of that.
func (s *Server) carryOut(ctx context.Context, c kv.Command, in Attempt) (int, KVWrite, error) {
	r, err := s.store.Submit(ctx, c, in)
	if err != nil {
		return 0, KVWrite{}, err
	}
	a := KVWrite{Status: r.Status.String(), Key: c.Key, Version: kvText(r.Version), Lease: kvText(r.Lease), Limit: r.Limit,
		Revision: r.Revision, Lasting: r.Lasting, Transitional: r.Transitional, Repeated: r.Repeated, Fresh: r.Fresh}
	code := http.StatusOK
	switch r.Status {
	case kv.Done:
	case kv.NotFound:
		code, a.Error = http.StatusNotFound, fmt.Sprintf("there is no key %q", c.Key)
		switch {
		case c.Op == kv.Resolve:
			a.Error = fmt.Sprintf("the key %q has no conflict %v", c.Key, c.Lease)
		case c.Lease != (kv.Dot{}):
			a.Error = noLease(c.Lease)
		}
	case kv.Mismatch:
		code, a.Error = http.StatusConflict, fmt.Sprintf("the key %q has the version %v, and not %v", c.Key, r.Version, c.Version)
		if r.Version.None() {
			a.Error = fmt.Sprintf("there is no key %q, and so it has not the version %v", c.Key, c.Version)
		}
	case kv.Full:
		code, a.Error = http.StatusInsufficientStorage, "the store is full: it takes "+limitText(r.Limit)
	default:
		code, a.Error = http.StatusServiceUnavailable, "the store has not taken the command: "+r.Status.String()
	}
	return code, a, nil
}

// limitText describes a limit with its value.
func limitText(limit string) string {
	switch limit {
	case kv.LimitKeys:
		return fmt.Sprintf("at most %d keys", kv.MaxKeys)
	case kv.LimitLeases:
		return fmt.Sprintf("at most %d leases", kv.MaxLeases)
	}
	return fmt.Sprintf("at most %d bytes of keys and values, with %d more for each key", kv.MaxBytes, kv.EntryBytes)
}

// withParameters returns a command with its parts from parameters: the key, its version, a
// lease and a time to live.
func withParameters(values url.Values, c kv.Command) (kv.Command, error) {
	var err error
	if c.Key, err = keyOf(values); err != nil {
		return c, err
	}
	if text := values.Get("version"); text != "" {
		c.Match = true
		if c.Version, err = kv.ParseVersion(text); err != nil {
			return c, badRequest{fmt.Errorf("version: %w", err)}
		}
	}
	if values.Has("lease") {
		if c.Lease, err = idOf(values, "lease"); err != nil {
			return c, err
		}
	}
	if values.Has("ttl") {
		if values.Has("lease") {
			return c, badRequest{errors.New("ttl: it makes a lease of its own, and the key ends with one lease only: without lease")}
		}
		if c.TTL, err = ttlOf(values); err != nil {
			return c, err
		}
	}
	return c, nil
}

// ttlOf returns the parameter ttl.
func ttlOf(values url.Values) (time.Duration, error) {
	d, err := kv.ParseTTL(values.Get("ttl"))
	if err != nil {
		return 0, badRequest{fmt.Errorf("ttl %w", err)}
	}
	return d, nil
}

func (s *Server) kvPut(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	values := q.URL.Query()
	c, err := withParameters(values, kv.Command{Op: kv.Put})
	if err != nil {
		return err
	}
	if c.Value, err = io.ReadAll(q.Body); err != nil {
		return badRequest{err}
	}
	return s.submit(ctx, w, values, c)
}

func (s *Server) kvDelete(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	values := q.URL.Query()
	c, err := withParameters(values, kv.Command{Op: kv.Delete})
	if err != nil {
		return err
	}
	return s.submit(ctx, w, values, c)
}

func (s *Server) kvGrant(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	values := q.URL.Query()
	ttl, err := ttlOf(values)
	if err != nil {
		return err
	}
	return s.submit(ctx, w, values, kv.Command{Op: kv.Grant, TTL: ttl})
}

func (s *Server) kvRenew(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	return s.onLease(ctx, w, q, kv.Renew)
}

func (s *Server) kvRevoke(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	return s.onLease(ctx, w, q, kv.Revoke)
}

func (s *Server) onLease(ctx context.Context, w http.ResponseWriter, q *http.Request, op kv.Op) error {
	values := q.URL.Query()
	id, err := idOf(values, "lease")
	if err != nil {
		return err
	}
	return s.submit(ctx, w, values, kv.Command{Op: op, Lease: id})
}

func (s *Server) kvResolve(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	values := q.URL.Query()
	key, err := keyOf(values)
	if err != nil {
		return err
	}
	id, err := idOf(values, "id")
	if err != nil {
		return err
	}
	return s.submit(ctx, w, values, kv.Command{Op: kv.Resolve, Key: key, Lease: id})
}
