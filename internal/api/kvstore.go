package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/kv"
)

// Store is the key-value store of a node: see package store. Its methods are safe for
// concurrent use.
type Store interface {
	// Read calls f with the state, which f must not change. It may call f twice; then the
	// last call counts. With latest, the state has all commands that were acknowledged
	// before. An error says why the node cannot know that.
	Read(ctx context.Context, latest bool, f func(*kv.State)) (KVFresh, error)
	// Submit gives a command its name and its time, and gets it applied, unless an earlier
	// attempt in its session was applied. The error says why the command was not submitted,
	// or matches [failaware.ErrOutcomeUnknown], or is [failaware.ErrTooLarge], an error of
	// [kv.Command.Check] or a [*SessionError].
	Submit(context.Context, kv.Command, Attempt) (Submitted, error)
	// OpenSession begins a session, and CloseSession ends one. The error of OpenSession says
	// that there is none, or none that counts.
	OpenSession(context.Context) (failaware.MessageID, error)
	CloseSession(context.Context, failaware.MessageID) error
	// Changed returns a channel that is closed when the state changes.
	Changed() <-chan struct{}
	// Done returns a channel that is closed when the store has stopped.
	Done() <-chan struct{}
	// Bootstrap lets the store continue without the absent nodes: the operator accepts the
	// loss of operations that only they know.
	Bootstrap(context.Context) error
	// Describe fills in the fields of the status that do not come from the state.
	Describe(*KVStatus)
	// messenger sends messages beside the commands.
	messenger
	// Log returns what the store shows of its deliveries.
	Log() *StoreLog
}

// Attempt names the operation of a session that a command attempts. Without a Number the
// command belongs to no session.
type Attempt struct {
	Session failaware.MessageID
	Number  uint64
}

// SessionError says why a session does not take a command, and has the HTTP status code.
type SessionError struct {
	Code int
	Text string
}

func (e *SessionError) Error() string { return e.Text }

// Submitted is the outcome of a command.
type Submitted struct {
	kv.Result
	Repeated              bool // an earlier attempt was applied, with this result
	Lasting, Transitional bool
	Fresh                 KVFresh
}

// Limits of requests to the store.
const (
	// MaxWatchers is the limit of streams of changes.
	MaxWatchers = 64
	// MostPatience is the longest time that a request can wait for a node that cannot answer,
	// by its parameter wait, and defaultPatience the time without that parameter.
	MostPatience, defaultPatience = 25 * time.Second, 3 * time.Second
)

const (
	kvPath      = "/v1/kv/"
	kvPutPath   = kvPath + "put"
	kvCasPath   = kvPath + "cas"
	kvBatchPath = kvPath + "batch"
)

var errNoStore = errors.New("this node has no key-value store: it runs without --kv")

// kvRoute returns the handler of a path of the store, which calls handle with a context that
// ends when the request has waited long enough.
func kvRoute(handle func(*Server, context.Context, http.ResponseWriter, *http.Request) error) func(*Server, http.ResponseWriter, *http.Request) {
	return func(s *Server, w http.ResponseWriter, q *http.Request) { s.serveStore(handle, w, q) }
}

// errNoAnswer is why a wait for the store ended. It names no time, because a client may have
// waited for longer: it tries again, each time for what is left of its own patience.
var errNoAnswer = errors.New("no answer in time")

// serveStore handles a request to the store. It is not part of kvRoute, which the compiler
// inlines once for each path.
func (s *Server) serveStore(handle func(*Server, context.Context, http.ResponseWriter, *http.Request) error, w http.ResponseWriter, q *http.Request) {
	if s.store == nil {
		Fail(w, http.StatusNotImplemented, errNoStore)
		return
	}
	patience := defaultPatience
	if text := q.URL.Query().Get("wait"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > MostPatience {
			Fail(w, http.StatusBadRequest, fmt.Errorf("wait %.40q is not a duration up to %v", text, MostPatience))
			return
		}
		patience = d
	}
	ctx, cancel := context.WithTimeoutCause(q.Context(), patience, errNoAnswer)
	defer cancel()
	if err := handle(s, ctx, w, q); err != nil {
		Fail(w, kvCode(err), err)
	}
}

// badRequest is an error of a parameter.
type badRequest struct{ error }

func (e badRequest) Unwrap() error { return e.error }

// kvCode returns the status code of an error.
func kvCode(err error) int {
	if _, bad := errors.AsType[badRequest](err); bad {
		return http.StatusBadRequest
	}
	if e, ok := errors.AsType[*SessionError](err); ok {
		return e.Code
	}
	switch {
	case errors.Is(err, kv.ErrKey), errors.Is(err, kv.ErrTTL):
		return http.StatusBadRequest
	case errors.Is(err, kv.ErrValue), errors.Is(err, failaware.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, kv.ErrCompacted), errors.Is(err, kv.ErrOtherPart):
		return http.StatusGone
	case errors.Is(err, failaware.ErrOutcomeUnknown):
		return http.StatusGatewayTimeout
	}
	return http.StatusServiceUnavailable
}

// kvStatus answers from the state of this node, so that it always answers.
func (s *Server) kvStatus(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	a := KVStatus{MaxKeys: kv.MaxKeys, MaxBytes: kv.MaxBytes, Watchers: int(s.watches.open.Load()), Absent: []int{}}
	var err error
	a.Fresh, err = s.store.Read(ctx, false, func(st *kv.State) {
		sum := st.Summary()
		a.Kind, a.Revision, a.Oldest, a.Place = st.Kind().String(), st.Place().Revision, st.Oldest(), st.Place().String()
		a.Keys, a.Bytes, a.Leases, a.Conflicts, a.Tombstones = sum.Keys, sum.Bytes, sum.Leases, sum.Conflicts, sum.Tombstones
		a.Expired, a.Overtaken, a.Forgotten = sum.Expired, sum.Overtaken, sum.Forgotten
	})
	if err != nil {
		return err
	}
	s.store.Describe(&a)
	Answer(w, http.StatusOK, a)
	return nil
}

func (s *Server) kvBootstrap(ctx context.Context, w http.ResponseWriter, _ *http.Request) error {
	if err := s.store.Bootstrap(ctx); err != nil {
		return err
	}
	Answer(w, http.StatusOK, Done{true})
	return nil
}

// kvText returns the text of a value of the state, or "" for its zero value.
func kvText[T interface {
	comparable
	fmt.Stringer
}](v T) string {
	var none T
	if v == none {
		return ""
	}
	return v.String()
}
