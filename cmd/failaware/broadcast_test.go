package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// A message whose fate the node does not know, or of which no answer came, is not one that was not
// sent.
func TestAnUnknownOutcomeOfABroadcastHasItsExitCode(t *testing.T) {
	silent := func(w http.ResponseWriter, q *http.Request) { <-q.Context().Done() }
	answer := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { api.Fail(w, code, errors.New(text)) }
	}
	for _, c := range []struct {
		handler http.HandlerFunc
		code    int
		want    string
	}{
		{silent, 6, "has not answered in time; the message may have been sent, and may yet be delivered"},
		{answer(http.StatusGatewayTimeout, "the outcome is unknown"), 6, "the outcome is unknown"},
		{answer(http.StatusConflict, "no quorum"), 1, "no quorum"},
		{func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, 6, "its answer is not JSON; the message may have been sent"},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("/", c.handler)
		var stderr bytes.Buffer
		code := program.Run(t.Context(), []string{"--addr", serveAt(t, mux), "broadcast", "--timeout", "500ms", "x"}, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		require.Contains(t, stderr.String(), c.want)
		require.Equal(t, c.code, code, stderr.String())
	}
	code := program.Run(t.Context(), []string{"--addr", "nowhere", "broadcast", "x"}, strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	require.Equal(t, 1, code)
}
