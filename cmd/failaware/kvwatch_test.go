package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// A watch of the store goes on when the node comes back, even if the node does not know any
// more what follows the last item. It ends only at what a later attempt cannot mend.
func TestWatchesGoOn(t *testing.T) {
	asked := []string{}
	refused := func(w http.ResponseWriter, code int) { api.Fail(w, code, errors.New("refused")) }
	items := func(w http.ResponseWriter, list ...api.KVChange) {
		w.Header().Set("Failaware-Run", "1")
		w.Header().Set("Content-Type", "text/event-stream")
		for _, k := range list {
			fmt.Fprintf(w, "data: {\"id\":%q,\"kind\":%q,\"revision\":%d}\n\n", k.ID, k.Kind, k.Revision)
		}
	}
	answers := []func(http.ResponseWriter){
		func(w http.ResponseWriter) { items(w, api.KVChange{ID: "7-00000007", Kind: "put", Revision: 7}) },
		func(w http.ResponseWriter) { refused(w, http.StatusServiceUnavailable) },
		func(w http.ResponseWriter) { refused(w, http.StatusGone) },
		func(w http.ResponseWriter) { items(w, api.KVChange{ID: "reset", Kind: "reset", Revision: 9}) },
		func(w http.ResponseWriter) {
			items(w, api.KVChange{ID: "reset", Kind: "reset", Revision: 9}, api.KVChange{ID: "9-00000009", Kind: "complete", Revision: 9})
		},
		func(w http.ResponseWriter) { refused(w, http.StatusUnauthorized) },
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/kv/watch", func(w http.ResponseWriter, q *http.Request) {
		asked = append(asked, q.Header.Get("Last-Event-ID"))
		answers[min(len(asked), len(answers))-1](w)
	})
	socket := serveAt(t, mux)
	code, out, stderr := invoke("--addr", socket, "kv", "watch", "--timeout", "1m")
	require.Equal(t, 2, code, stderr)
	require.Equal(t, []string{"", "7-00000007", "7-00000007", "reset", "reset", "9-00000009"}, asked)
	require.Regexp(t, `\A +7 put .*\n +9 reset .*\n +9 reset .*\n +9 complete *\n\z`, out)
	require.Contains(t, stderr, "the node does not know any more what follows 7-00000007; the present keys follow\n")

	// An id that the user gives is not replaced by another.
	asked, answers = nil, slices.Clone(answers[2:3])
	code, out, stderr = invoke("--addr", socket, "kv", "watch", "--since", "7", "--timeout", "1m")
	require.Equal(t, 2, code)
	require.Empty(t, out)
	require.Equal(t, "failaware: refused\n", stderr)
	require.Equal(t, []string{"7"}, asked)
}
