package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
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
