package main

import (
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

func TestEpochTexts(t *testing.T) {
	for want, e := range map[string]api.Epoch{
		"the node has no quorum system": {Static: true},
		"epoch 1: majority:1, which cannot be replaced: that needs a state directory, and with --broadcast-require-quorum also --kv linearizable": {Epoch: 1, Quorum: "majority:1", Static: true},
		"the node has not heard of an epoch yet": {},
		"epoch 2: majority:1":                    {Epoch: 2, Quorum: "majority:1"},
		"epoch 2: majority:1; noted: majority:2": {Epoch: 2, Quorum: "majority:1", Phase: "noted", Next: "majority:2"},
		"epoch 2: majority:1,2; wedged: majority:2, forced, with [1] declared dead": {Epoch: 2, Quorum: "majority:1,2", Phase: "wedged", Next: "majority:2",
			Dead: []int{1}},
	} {
		require.Equal(t, want, epochText(&e))
	}
}

// A change of the quorum system takes its time: the command waits longer than others do.
func TestAChangeOfTheQuorumSystemIsWaitedFor(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/epoch/change", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(defaultTimeout + 500*time.Millisecond)
		api.Answer(w, http.StatusOK, api.Done{Done: true})
	})
	code, out, stderr := invoke("--addr", serveAt(t, mux), "epoch", "change", "majority:1")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "the node is in an epoch of majority:1\n", out)
}

// Whoever forces a change at two nodes may split the group for good, so a command that fails says
// whether the change may be forced all the same.
func TestWhatMayBeForcedIsSaid(t *testing.T) {
	t.Parallel()
	force := func(addr string) string {
		code, _, stderr := invoke("--addr", addr, "--timeout", "200ms", "epoch", "change", "majority:1", "--force", "--dead", "2")
		require.Equal(t, 1, code)
		return stderr
	}
	answers := func(code int) string {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /v1/epoch/change", func(w http.ResponseWriter, _ *http.Request) { api.Fail(w, code, errors.New("it failed")) })
		return force(serveAt(t, mux))
	}
	mux := http.NewServeMux()
	stopped := make(chan struct{})
	mux.HandleFunc("POST /v1/epoch/change", func(http.ResponseWriter, *http.Request) { <-stopped })
	slow := force(serveAt(t, mux))
	close(stopped)
	const warning = "may have forced"
	require.Contains(t, slow, warning)
	proxy := http.NewServeMux()
	proxy.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	require.Contains(t, force(serveAt(t, proxy)), warning, "it may have passed the request on")
	require.Contains(t, answers(http.StatusGatewayTimeout), warning)
	require.Contains(t, answers(http.StatusServiceUnavailable), warning, "it stops")
	require.NotContains(t, answers(http.StatusConflict), warning, "it has refused")
	require.NotContains(t, force(filepath.Join(t.TempDir(), "none.api")), warning, "there is no node")
}
