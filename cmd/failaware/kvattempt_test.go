package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/trust"
)

// Answers to attempts of a command.
var (
	lost     = &api.UnreachableError{Err: syscall.ECONNRESET}
	away     = &api.UnreachableError{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	unsure   = &api.StatusError{Code: http.StatusGatewayTimeout}
	notTaken = &api.StatusError{Code: http.StatusServiceUnavailable}
	miss     = &api.StatusError{Code: http.StatusConflict}
	broken   = &api.StatusError{Code: http.StatusBadGateway}
	proxied  = &api.StatusError{Code: http.StatusServiceUnavailable, Foreign: true}
	expired  = &api.StatusError{Code: http.StatusGone}
	noStore  = &api.StatusError{Code: http.StatusNotImplemented}
	reused   = &api.StatusError{Code: http.StatusUnprocessableEntity}
)

// persists is the rule of attempts: a command is sent again while its outcome is unknown,
// and what a later attempt comes to says nothing about an earlier one.
func persists(t testing.TB) {
	for what, c := range map[string]struct {
		sent    bool
		answers []error // the last one comes again and again
		known   bool
		sends   int // 0: until the end
	}{
		"done":                     {false, []error{nil}, true, 1},
		"refused":                  {false, []error{notTaken}, true, 1},
		"never reached":            {false, []error{away}, true, 1},
		"a miss":                   {false, []error{miss}, true, 1},
		"lost, then done":          {false, []error{lost, nil}, true, 2},
		"unsure, then a miss":      {false, []error{unsure, away, notTaken, miss}, true, 4},
		"lost, then refused":       {false, []error{lost, notTaken}, false, 0},
		"lost, then away":          {false, []error{lost, away}, false, 0},
		"sent before, and refused": {true, []error{notTaken}, false, 0},
		"sent before, and done":    {true, []error{nil}, true, 1},
		"a broken way, then done":  {false, []error{broken, nil}, true, 2},
		"a broken way":             {false, []error{broken}, false, 0},
		"a proxy's 503, then done": {false, []error{proxied, nil}, true, 2},
		"a proxy's 503":            {false, []error{proxied}, false, 0},
		"lost, then expired":       {false, []error{lost, expired}, true, 2},
		"no store":                 {false, []error{noStore}, true, 1},
		"lost, then no store":      {false, []error{lost, noStore}, false, 2},
		"sent before, no store":    {true, []error{noStore}, false, 1},
		"sent before, and reused":  {true, []error{reused}, true, 1},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		sends := 0
		err, known := persist(ctx, c.sent, func() error {
			sends++
			return c.answers[min(sends, len(c.answers))-1]
		})
		cancel()
		require.Equal(t, c.known, known, what)
		require.Equal(t, c.answers[len(c.answers)-1], err, what)
		if c.sends == 0 {
			require.Greater(t, sends, 2, what)
		} else {
			require.Equal(t, c.sends, sends, what)
		}
	}
}

func TestCommandsPersist(t *testing.T) { synctest.Test(t, func(t *testing.T) { persists(t) }) }

// A command whose answers are lost is sent again in its session, and says how to go on if
// its time ends.
func TestLostAnswers(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	lose := 2 // answers
	next := func(answers int) {
		mu.Lock()
		defer mu.Unlock()
		lose, sent = answers, nil
	}
	log := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(sent)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/kv/{path...}", func(w http.ResponseWriter, q *http.Request) {
		v := q.URL.Query()
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, q.PathValue("path")+" "+v.Get("session")+" "+v.Get("number"))
		switch q.PathValue("path") {
		case "session/open":
			api.Answer(w, http.StatusOK, api.KVSession{Session: "1/0000000000000007/o1"})
		case "session/close":
			api.Answer(w, http.StatusOK, api.Done{Done: true})
		default:
			if lose--; lose >= 0 {
				panic(http.ErrAbortHandler)
			}
			api.Answer(w, http.StatusOK, api.KVWrite{Status: "done", Version: "7", Repeated: true})
		}
	})
	socket := serveAt(t, mux)

	code, out, stderr := invoke("--addr", socket, "kv", "put", "colour", "blue", "--timeout", "1m")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "version 7\n", out)
	const put = "put 1/0000000000000007/o1 1"
	require.Equal(t, []string{"session/open  ", put, put, put, "session/close 1/0000000000000007/o1 "}, log())

	next(1 << 30)
	code, _, stderr = invoke("--addr", socket, "kv", "put", "colour", "blue", "--timeout", "300ms")
	require.Equal(t, int(exitUnknown), code)
	require.Contains(t, stderr, "the outcome is not known: repeat the command, at any node, with --session 1/0000000000000007/o1 --number 1")
	require.NotContains(t, log(), "session/close 1/0000000000000007/o1 ", "the outcome can still be learnt")
	next(0)
	code, _, stderr = invoke("--addr", socket, "kv", "put", "colour", "blue", "--session", "1/0000000000000007/o1", "--number", "1", "--timeout", "1m")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, []string{put}, log())
}

// A proxy has no room for an answer, too. Only a node's answer says that the store is full,
// and that nothing was changed.
func TestAProxyWithoutRoomSaysNothingOfTheStore(t *testing.T) {
	for name, c := range map[string]struct {
		answer any
		want   cli.ExitCode
	}{
		"proxy": {"Insufficient Storage", exitUnknown},
		"node":  {api.KVWrite{Status: "full", Error: "the store is full"}, cli.ExitNo},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /v1/kv/put", func(w http.ResponseWriter, _ *http.Request) {
			api.Answer(w, http.StatusInsufficientStorage, c.answer)
		})
		code, _, stderr := invoke("--addr", serveAt(t, mux), "kv", "put", "colour", "blue", "--session", "1/0000000000000007/o1", "--number", "1",
			"--timeout", "300ms")
		require.Equal(t, int(c.want), code, "%s: %s", name, stderr)
	}
}

// A proxy that loses the answer of a node may say that the service is unavailable. Only a
// node's own words say that it has not taken the command.
func TestAProxyThatLosesAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want cli.ExitCode
	}{
		"proxy":   {"upstream connect error or disconnect/reset before headers", exitUnknown},
		"gateway": {`{"message": "Service Unavailable"}`, exitUnknown},
		"node":    {`{"error": "the node is not in a majority"}`, exitUnavailable},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /v1/kv/session/open", func(w http.ResponseWriter, _ *http.Request) {
			api.Answer(w, http.StatusOK, api.KVSession{Session: "1/0000000000000007/o1"})
		})
		mux.HandleFunc("POST /v1/kv/put", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, c.body)
		})
		code, _, stderr := invoke("--addr", serveAt(t, mux), "kv", "put", "colour", "blue", "--timeout", "300ms")
		require.Equal(t, int(c.want), code, "%s: %s", name, stderr)
	}
}

// What the answer to the last attempt says is printed, and nothing of the answers before.
func TestAnEarlierAnswerIsForgotten(t *testing.T) {
	var attempts atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/kv/put", func(w http.ResponseWriter, _ *http.Request) {
		if attempts.Add(1) == 1 {
			api.Fail(w, http.StatusGatewayTimeout, errors.New("the outcome is unknown"))
			return
		}
		api.Answer(w, http.StatusOK, api.KVWrite{Status: "done", Version: "7"})
	})
	code, out, stderr := invoke("--addr", serveAt(t, mux), "kv", "put", "colour", "blue", "--session", "1/0000000000000007/o1", "--number", "1",
		"--timeout", "1m", "-o", "json")
	require.Equal(t, 0, code, stderr)
	require.EqualValues(t, 2, attempts.Load())
	require.NotContains(t, out, "error")
}

// A command is sent after its session is open. So its outcome is known if that of the session
// is not.
func TestNothingWasChangedWithoutASession(t *testing.T) {
	err := unopened(&api.StatusError{Code: http.StatusGatewayTimeout, Text: "the outcome is unknown, the command may be carried out or not"})
	require.EqualError(t, err, "nothing was changed, since no session was opened: the outcome is unknown, the command may be carried out or not")
	e, ok := errors.AsType[*cli.ExitError](err)
	require.True(t, ok)
	require.Equal(t, exitUnavailable, e.Code)
	err = unopened(&api.StatusError{Code: http.StatusServiceUnavailable, Text: "nothing was changed"})
	require.EqualError(t, err, "nothing was changed")
	e, ok = errors.AsType[*cli.ExitError](err)
	require.True(t, ok)
	require.Equal(t, exitUnavailable, e.Code)
}

// Only a connection that was never made says that a node has not had a request.
func TestBrokenConnectionsMayHaveBroughtARequest(t *testing.T) {
	for op, want := range map[string]cli.ExitCode{"dial": exitUnavailable, "write": exitUnknown, "read": exitUnknown, "close": exitUnknown} {
		err := &api.UnreachableError{Err: &net.OpError{Op: op, Err: syscall.EPIPE}}
		require.Equal(t, want, kvError(http.MethodPost, err).Code, op)
		require.Equal(t, exitUnavailable, kvError(http.MethodGet, err).Code, op)
	}
}

// An answer that is none of a node, as of a proxy that asks for a name, says nothing of what became of a
// command that was sent before. Nor does a socket that another user may have made: it is asked nothing.
func TestWhoeverIsNoNodeKnowsNoOutcome(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Who are you?</html>") })
	socket := serveAt(t, mux)
	code, _, stderr := invoke("--addr", socket, "kv", "put", "colour", "blue", "--session", "1/0000000000000007/o1", "--number", "3", "--timeout", "300ms")
	require.Equal(t, int(exitUnknown), code, stderr)
	require.Contains(t, stderr, "is not a node of failaware: its answer is not JSON")
	require.Contains(t, stderr, "the outcome is not known: repeat the command")

	forged := &api.ForgedError{Err: trust.ErrUntrusted}
	require.True(t, neverSucceeds(forged))
	require.Equal(t, cli.ExitWrong, kvError(http.MethodPost, forged).Code)
	_, known := persist(t.Context(), true, func() error { return forged })
	require.False(t, known)
}

// A node that does not trust the client, or is not trusted, carries nothing out, now or later.
func TestACommandToANodeWithoutTrustNeverSucceeds(t *testing.T) {
	for _, cause := range []error{&net.OpError{Op: "remote error"}, &tls.CertificateVerificationError{}, http.ErrSchemeMismatch} {
		err := &api.UnreachableError{Err: cause}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			require.Equal(t, cli.ExitWrong, kvError(method, err).Code, "%T", cause)
		}
		require.False(t, retryable(err), "%T", cause)
	}
}
