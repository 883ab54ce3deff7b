package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

// streamOf answers with the beginning of a stream of views, and then ends as a function says.
func streamOf(then func(w http.ResponseWriter, q *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Failaware-Run", "1")
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"id\":\"1.1\",\"kind\":\"view\",\"view\":\"v\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		then(w, q)
	}
}

// serveStream serves a handler of all streams.
func serveStream(t *testing.T, h http.HandlerFunc) (socket string) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", h)
	return serveAt(t, mux)
}

// streams are commands that print streams, and their exit codes if no node answers.
var streams = map[string]int{"watch": 1, "watch -n 1": 1, "kv watch": 5, "kv watch -n 1": 5, "deliveries": 1, "deliveries -f": 1}

// A node that never answers is no success when --timeout ends.
func TestStreamsThatNeverBeginAreNoSuccess(t *testing.T) {
	socket := serveStream(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	for line, want := range streams {
		code, out, stderr := invoke(append(strings.Fields(line), "--addr", socket, "--timeout", "20ms")...)
		require.Equal(t, want, code, line)
		require.Empty(t, out)
		require.Equal(t, "failaware: the node at "+socket+" has not answered in time\n", stderr, line)
	}
}

// watching plays a watch in virtual time: each stream begins or not, and lasts until the watch
// ends, as by a signal after ten seconds. It returns how long each stream may take to begin.
func watching(t *testing.T, w *watcher, begins bool) (patience []time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer time.AfterFunc(10*time.Second, stop).Stop()
		w.out, w.err = io.Discard, io.Discard
		err = w.run(ctx, "", func(ctx context.Context, _ *api.Client, r *api.Resume, started func(string)) error {
			patience = append(patience, r.Begin)
			if !begins {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			started("1")
			time.Sleep(time.Second)
			return &api.UnreachableError{Err: io.EOF}
		})
	})
	return patience, err
}

// An interrupt and --timeout mean the same, and a node has as long to answer as another command
// gives it.
func TestWatchesEndAlike(t *testing.T) {
	for _, timeout := range []time.Duration{0, 6 * time.Second} {
		for _, count := range []int{0, 1} {
			patience, err := watching(t, &watcher{g: &globals{timeout: timeout}, count: count}, true)
			require.Equal(t, count > 0, err == cli.ErrNo, "%v", err)
			require.Equal(t, count == 0, err == nil, "%v", err)
			require.Greater(t, len(patience), 2)
			require.Equal(t, []time.Duration{cmp.Or(timeout, defaultTimeout), defaultTimeout, defaultTimeout}, patience[:3])
			_, err = watching(t, &watcher{g: &globals{timeout: timeout}, count: count}, false)
			require.Error(t, err)
		}
	}
}

// A watch connects again to a node that is lost, and not to one that is not trusted any more.
func TestAWatchEndsWithTrust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		lost := []error{io.EOF, &tls.CertificateVerificationError{}}
		w := &watcher{g: &globals{}, out: io.Discard, err: io.Discard}
		err := w.run(ctx, "", func(_ context.Context, _ *api.Client, _ *api.Resume, started func(string)) error {
			started("1")
			err := lost[0]
			lost = lost[len(lost)-1:]
			return &api.UnreachableError{Err: err}
		})
		require.True(t, neverSucceeds(err), "%v", err)
	})
}

// A list whose node dies before its end is no success.
func TestAListThatIsCutOffIsNoSuccess(t *testing.T) {
	socket := serveStream(t, streamOf(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	code, out, stderr := invoke("--addr", socket, "deliveries")
	require.Equal(t, 1, code)
	require.Equal(t, "view           v: members []\n", out)
	require.Equal(t, "failaware: the list is cut off: the connection to "+socket+" is lost: unexpected EOF\n", stderr)
	code, _, _ = invoke("--addr", serveStream(t, streamOf(func(http.ResponseWriter, *http.Request) {})), "deliveries")
	require.Equal(t, 0, code)
}
