package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

func TestOperatorsAreServedWhatTheProgramOffers(t *testing.T) {
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	t.Cleanup(s.Close)
	ask := func(method, path string) int {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code
	}
	require.Equal(t, http.StatusNotFound, ask(http.MethodGet, "/metrics"))
	require.Equal(t, http.StatusNotFound, ask(http.MethodGet, "/debug/pprof/heap"))
	require.Equal(t, http.StatusForbidden, ask(http.MethodPost, "/v1/log-level?level=debug"))

	teapot := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	level := ""
	s.Metrics, s.Debug, s.SetLevel = teapot, teapot, func(l string) { level = l }
	require.Equal(t, http.StatusTeapot, ask(http.MethodGet, "/metrics"))
	require.Equal(t, http.StatusTeapot, ask(http.MethodGet, "/debug/pprof/heap"))
	require.Equal(t, http.StatusTeapot, ask(http.MethodHead, "/debug/pprof/heap"))
	require.Equal(t, http.StatusMethodNotAllowed, ask(http.MethodPost, "/debug/pprof/heap"))
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/v1/log-level?level=debug"))
	require.Equal(t, "debug", level)
	require.Equal(t, http.StatusBadRequest, ask(http.MethodPost, "/v1/log-level?level=loud"))
	require.Equal(t, http.StatusMethodNotAllowed, ask(http.MethodGet, "/v1/log-level?level=warn"))
	require.Equal(t, "debug", level)
}

// The traffic of the metrics is what clients have sent and what the node has delivered.
func TestTrafficIsCounted(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}})
	s, c := serveNode(t, n)
	require.Eventually(t, func() bool {
		_, err := c.Broadcast(t.Context(), []byte("hello"), nil)
		return err == nil
	}, longEnough, 10e6)
	require.Eventually(t, func() bool { return s.Traffic() == Traffic{1, 5, 1, 5} }, longEnough, 10e6)
}
