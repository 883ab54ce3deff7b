package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// A node is ready while its view is up to date, and not already when it has one.
func TestReadiness(t *testing.T) {
	installed := &failaware.View{ID: failaware.ViewID{Sequence: 3, Leader: 1, Boot: 7}}
	for _, c := range []struct {
		stopped bool
		view    failaware.ViewAnswer
		reason  string
	}{
		{view: failaware.ViewAnswer{View: installed, UpToDate: true}},
		{view: failaware.ViewAnswer{View: installed}, reason: "the view is not up to date"},
		{view: failaware.ViewAnswer{View: &failaware.View{}}, reason: "the view is not up to date"},
		{view: failaware.ViewAnswer{View: installed, UpToDate: true}, stopped: true, reason: "the node has stopped"},
	} {
		require.Equal(t, c.reason, notReady(c.stopped, c.view))
	}
}

// A load balancer learns whether the store of a node takes commands, which an up-to-date view
// does not say.
func TestReadinessOfTheStore(t *testing.T) {
	asked := func(s *Server) (code int, reason string) {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz/store", nil))
		var a struct{ Reason, Error string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
		return w.Code, a.Reason + a.Error
	}
	n := startNode(t, failaware.Config{ID: 1})
	plain := NewServer(n)
	defer plain.Close()
	code, reason := asked(plain)
	require.Equal(t, http.StatusNotImplemented, code)
	require.Equal(t, errNoStore.Error(), reason)

	store := newLoneStore()
	s := NewServerWithStore(n, store)
	defer s.Close()
	code, reason = asked(s)
	require.Equal(t, http.StatusOK, code, reason)
	require.Empty(t, reason)
	store.err = errors.New("no quorum")
	code, reason = asked(s)
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "the store takes no commands; /v1/kv/status says why", reason)
	store.lag = "node 3"
	code, reason = asked(s)
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "the store waits for node 3", reason)
	store.err = nil
	code, _ = asked(s)
	require.Equal(t, http.StatusOK, code, "it does not wait for long yet")
	require.NoError(t, n.Close())
	code, reason = asked(s)
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, hasStopped, reason)
}
