package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// A list of all pages goes on behind pages that are short because their values are large, and
// says if it is not of one state.
func TestAListOfAllPages(t *testing.T) {
	var last uint64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/kv/list", func(w http.ResponseWriter, q *http.Request) {
		page := map[string]api.KVList{
			"":  {Items: []api.KVItem{{Key: "a"}, {Key: "b"}}, More: true, Revision: 7},
			"b": {Items: []api.KVItem{{Key: "c"}}, More: true, Revision: 8},
			"c": {Items: []api.KVItem{{Key: "d"}}, Revision: last},
		}[q.URL.Query().Get("after")]
		page.Fresh.Latest = true
		api.Answer(w, http.StatusOK, page)
	})
	socket := serveAt(t, mux)
	for revision, says := range map[uint64]string{
		7: "",
		9: "failaware: the store has changed meanwhile, from revision 7 to 9: each key is as it was at some time between\n",
		5: "failaware: the store has changed meanwhile, from revision 7 to 5: each key is as it was at some time between\n",
	} {
		last = revision
		code, out, stderr := invoke("--addr", socket, "kv", "list", "--all", "-o", "json")
		require.Equal(t, 0, code)
		require.Equal(t, says, stderr)
		var all api.KVList
		require.NoError(t, json.Unmarshal([]byte(out), &all))
		require.False(t, all.More)
		require.Equal(t, []api.KVItem{{Key: "a"}, {Key: "b"}, {Key: "c"}, {Key: "d"}}, all.Items)
	}
}
