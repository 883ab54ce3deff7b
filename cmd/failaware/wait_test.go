package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// Each condition and each of its flags is about the field that it is named after.
func TestWhatIsWaitedFor(t *testing.T) {
	var answers sync.Map // a request that came too late may still be answered
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{part...}", func(w http.ResponseWriter, q *http.Request) {
		answer, _ := answers.Load(q.PathValue("part"))
		api.Answer(w, http.StatusOK, answer)
	})
	socket := serveAt(t, mux)
	ns := func(x int64) *int64 { return &x }
	clock := func(status string, upToDate bool, deviation, utc *int64) api.Clock {
		return api.Clock{Status: status, UpToDate: upToDate, DeviationNS: deviation, UTCBoundNS: utc}
	}
	for _, x := range []struct {
		args   string
		answer any
		holds  bool
	}{
		{"synced", clock("internal", true, ns(5), nil), true},
		{"synced", clock("unsynchronized", false, ns(5), ns(5)), false},
		{"synced --bound 5ns", clock("internal", true, ns(5), nil), true},
		{"synced --bound 5ns", clock("external", true, ns(6), ns(1)), false},
		{"synced --bound 5ns", clock("internal", true, nil, ns(1)), false},
		{"synced --external", clock("external", true, ns(5), ns(5)), true},
		{"synced --external", clock("internal", true, ns(5), ns(5)), false},
		{"synced --external --bound 5ns", clock("internal", true, ns(9), ns(5)), true},
		{"synced --external --bound 5ns", clock("external", true, ns(1), ns(6)), false},
		{"synced --external --bound 5ns", clock("external", true, ns(1), nil), false},
		{"leader", api.Leader{UpToDate: true}, true},
		{"leader", api.Leader{Leader: 1}, false},
		{"leader --global", api.Global{Leader: 2, Quorum: "majority:1"}, true},
		{"leader --global", api.Global{Quorum: "majority:1"}, false},
		{"leader --global", api.Global{}, false},
		{"view", api.View{UpToDate: true, Members: make([]api.Member, 1)}, true},
		{"view", api.View{Members: make([]api.Member, 1)}, false},
		{"view --members 2", api.View{UpToDate: true, Members: make([]api.Member, 2)}, true},
		{"view --members 3", api.View{UpToDate: true, Members: make([]api.Member, 2)}, false},
		{"store", api.KVStatus{Accepting: true}, true},
		{"store", api.KVStatus{Accepting: true, Unstored: []int{2}}, false},
		{"store", api.KVStatus{}, false},
	} {
		args := strings.Fields(x.args)
		part := map[string]string{"synced": "clock", "leader": "leader", "view": "view", "store": "kv/status"}[args[0]]
		if strings.Contains(x.args, "--global") {
			part = "global"
		}
		answers.Store(part, x.answer)
		timeout := "50ms" // in which it is asked again and again
		if x.holds {
			timeout = "1m"
		}
		code, stdout, stderr := invoke(append([]string{"--addr", socket, "-o", "ndjson", "wait", "--timeout", timeout}, args...)...)
		require.Equal(t, map[bool]int{true: 0, false: 1}[x.holds], code, "%s of %+v: %s", x.args, x.answer, stderr)
		if !x.holds {
			require.Contains(t, stderr, "not in time")
		}
		if !strings.Contains(stderr, "no answer yet") { // on a busy machine
			require.True(t, json.Valid([]byte(stdout)), "%s: %q", x.args, stdout)
		}
	}
}

// A node that runs without a store never takes commands.
func TestAStoreThatIsNotThereIsNotWaitedFor(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/kv/status", func(w http.ResponseWriter, q *http.Request) {
		api.Fail(w, http.StatusNotImplemented, errors.New("no store"))
	})
	code, _, stderr := invoke("--addr", serveAt(t, mux), "wait", "store", "--timeout", "1m")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "wait store: no store")
}
