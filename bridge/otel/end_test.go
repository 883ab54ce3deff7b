package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A bridge that is told to end hands over the spans that it has, and begins nothing else.
func TestTheLastSpansAreHandedOver(t *testing.T) {
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "api"))
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	var streams atomic.Int32
	node := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.URL.Path == "/v1/status":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintln(w, `{"group": "g", "node": 2}`)
		case streams.Add(1) == 1:
			if q.Header.Get("Last-Event-ID") != "" {
				w.WriteHeader(http.StatusBadRequest) // it is to begin with new ones
			}
			fmt.Fprint(w, "data: {\"id\": \"run.1\", \"kind\": \"operation\", \"node\": 2, \"sender\": 2, \"message\": \"2/00c0ffee00c0ffee/o7\"}\n\n")
		default: // all of the first stream was told
			end()
		}
	})}
	go node.Serve(l)
	defer node.Close()
	r := newReceiver(t)
	require.NoError(t, (&options{node: filepath.Join(dir, "api"), collector: r.URL, share: 1}).main(ctx))
	require.Len(t, r.spans, 1)
	for _, spans := range r.spans {
		require.Len(t, spans, 4)
	}
}
