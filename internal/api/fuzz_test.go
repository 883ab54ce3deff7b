package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// FuzzRequest sends requests of any query, body and client to the handler of a node with a
// store. None may end the process or be the server's own fault, and all answers in JSON can
// be read.
func FuzzRequest(f *testing.F) {
	for i := range routes {
		f.Add(uint8(i), "", "", "")
		f.Add(uint8(i), "key=k&version=1&timeout_ns=1&prefix=&from=1&lease=1&ttl_ns=1000000000", `{"quorum":"majority:1"}`, "1")
		f.Add(uint8(i), "to=2&node=1&global=true&limit=-1&timeout_ns=9223372036854775808", "\x00\xff", "x/9")
		f.Add(uint8(i), "wait=1ms", `{"commands":[{"op":"put","key":"a","value":"eA==","ttl":"1s"},{"op":"delete","key":"b","version":"1"}]}`, "")
	}
	s := NewServerWithStore(startNode(f, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}}), newLoneStore())
	f.Cleanup(s.Close)
	h := s.Handler()
	f.Fuzz(func(t *testing.T, at uint8, query, body, last string) {
		r := routes[int(at)%len(routes)]
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		q := httptest.NewRequestWithContext(ctx, r.method, "/", strings.NewReader(body))
		q.URL = &url.URL{Path: r.path, RawQuery: query}
		q.Header.Set("Last-Event-ID", last)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		require.NotEqual(t, http.StatusInternalServerError, w.Code, "%s", w.Body)
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			require.True(t, json.Valid(w.Body.Bytes()), "%s", w.Body)
		}
	})
}
