package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli/clitest"
)

// A command that prints a stream prints one JSON object in each line, in both formats of JSON.
// What the answers say does not end it.
func TestStreamsOfJSONHaveALineForEachItem(t *testing.T) {
	t.Parallel()
	node := newAnswerer(t)
	for _, line := range []string{"watch -n 3", "deliveries -n 3", "deliveries --follow -n 3", "kv watch -n 3", "clock --watch --every 1ms"} {
		for _, format := range []string{"json", "ndjson"} {
			ctx, cancel := context.WithCancel(t.Context())
			var asked atomic.Int64
			var answer http.HandlerFunc = func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path != "/v1/clock" {
					w.Header().Set("Content-Type", "text/event-stream")
					for i := range 3 {
						_, _ = fmt.Fprintf(w, "id: r.%d\nevent: ready\ndata: {\"id\":\"r.%[1]d\",\"kind\":\"ready\"}\n\n", i)
					}
					return
				}
				if asked.Add(1) > 3 {
					cancel()
				}
				api.Answer(w, http.StatusOK, api.Clock{}) // it is not synchronized
			}
			node.answer.Store(&answer)
			var out, problem clitest.Buffer
			args := append([]string{"--addr", node.socket, "-o", format}, strings.Fields(line)...)
			require.Equal(t, 0, program.Run(ctx, args, strings.NewReader(""), &out, &problem), "%s: %s", line, &problem)
			cancel()
			count := 0
			for lines := bufio.NewScanner(strings.NewReader(out.String())); lines.Scan(); count++ {
				require.True(t, json.Valid(lines.Bytes()), "%s -o %s: %s", line, format, lines.Text())
			}
			require.GreaterOrEqual(t, count, 3, "%s -o %s", line, format)
		}
	}
}

// The time for which a node may wait with its answer is shorter than the one for which the
// command waits.
func TestNodesAnswerBeforeCommandsGiveUp(t *testing.T) {
	for _, timeout := range []time.Duration{time.Nanosecond, time.Minute, 20 * time.Second, time.Hour} {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		query := url.Values{}
		setWait(ctx, query)
		cancel()
		wait, err := time.ParseDuration(query.Get("wait"))
		require.NoError(t, err)
		require.Positive(t, wait)
		require.LessOrEqual(t, wait, max(time.Millisecond, min(timeout-min(timeout/5, time.Second), api.MostPatience)))
	}
	query := url.Values{}
	setWait(context.Background(), query)
	require.Empty(t, query)
}

// --timeout replaces the time for which a command usually waits, longer or shorter.
func TestTimeoutReplacesTheUsualOne(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Minute, 24 * time.Hour} {
		ctx, cancel := (&globals{timeout: timeout}).within(t.Context(), time.Hour)
		defer cancel()
		end, limited := ctx.Deadline()
		require.True(t, limited)
		want := timeout
		if want == 0 {
			want = time.Hour
		}
		require.InDelta(t, want.Hours(), time.Until(end).Hours(), 0.5*want.Hours())
	}
}
