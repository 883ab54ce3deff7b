package main

import (
	"net/http"
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
