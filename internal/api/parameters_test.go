package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// good are values that all parameters of the document accept, by name. A parameter that is
// added needs one.
var good = map[string]string{
	"about": "leader", "after": "a", "atomicity": "strict", "current": "true", "dead": "2", "follow": "false", "force": "false", "forget": "false",
	"global": "true", "id": "00f1a2b3c4d5e6f7.12", "key": "k", "lease": "00f1a2b3c4d5e6f7.12", "level": "info", "limit": "1", "local": "true", "node": "1", "number": "1",
	"order": "timed", "prefix": "a", "session": "1/0000000000000007/o1", "sha256": strings.Repeat("0", 64), "since": "0", "system": "majority:1", "to": "2",
	"token": "t", "topic": "all", "ttl": "10s", "unheard": "true", "version": "0", "wait": "1s",
}

// wrong are values that parameters refuse. Parameters that are missing here are any text.
var wrong = map[string][]string{
	"about": {"x", "256"}, "atomicity": {"x", "Strict"}, "current": {"x", "2"}, "dead": {"x", "1,,2", "256"}, "follow": {"x"},
	"force": {"x"}, "forget": {"x"}, "global": {"x", "yes"}, "id": {"x"}, "lease": {"x", "1"}, "level": {"x", "INFO"},
	"limit": {"0", "-1", "1001", "x", "1e2", "99999999999999999999"}, "local": {"x"}, "node": {"x", "0", "256", "-1"}, "number": {"x", "0", "-1", "9223372036854775808"}, "order": {"x"},
	"session": {"x", "1"}, "sha256": {"00", "x", strings.Repeat("0", 66)}, "since": {"x", "-1"}, "system": {"x", "majority"}, "to": {"x", "0", "256"}, "topic": {"x"},
	"ttl": {"x", "0s", "-1s", "10", "9999999h"}, "unheard": {"x"}, "version": {"x", "-1"}, "wait": {"x", "0s", "-1s", "26s"},
}

// Each parameter of each path is refused by its name if it is empty, given twice, missing
// although it is required, or wrong, and so is one that the path does not have.
func TestParametersOfTheDocument(t *testing.T) {
	cfg := failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}}
	plain, stored := NewServer(startNode(t, cfg)), NewServerWithStore(startNode(t, cfg), newLoneStore())
	t.Cleanup(plain.Close)
	t.Cleanup(stored.Close)
	plain.SetLevel, plain.Leave = func(string) {}, func(bool) (func(), error) { return func() {}, nil }
	d, seen := readDocument(t), map[string]bool{}
	for _, r := range routes {
		h := plain.Handler()
		if strings.HasPrefix(r.path, kvPath) {
			h = stored.Handler()
		}
		refused := func(query, want string) {
			t.Helper()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), r.method, r.path+"?"+query, nil))
			require.Equal(t, http.StatusBadRequest, w.Code, "%s?%s: %s", r.path, query, w.Body)
			var f Failure
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &f))
			require.Contains(t, f.Error, want, "%s?%s", r.path, query)
			require.NotContains(t, f.Error, "\n")
		}
		params := slices.DeleteFunc(d.Paths[r.path][strings.ToLower(r.method)].Parameters, func(p parameter) bool { return p.In != "query" })
		var names []string
		for _, p := range params {
			seen[p.Name] = true
			names = append(names, p.Name+mark(p))
			parameterIsChecked(t, params, p, refused)
		}
		require.Equal(t, strings.Join(names, " "), string(r.parameters), r.path)
		if strings.HasPrefix(r.path, "/v1/") {
			refused(queryWith(params, "colour", "blue"), `has no parameter "colour"`)
			refused("%zz", "cannot be read")
			refused("a=1;b=2", "cannot be read")
		}
	}
	require.Len(t, good, len(seen))
}

// mark returns what follows the name of a parameter in routes.
func mark(p parameter) string {
	switch {
	case p.Required:
		return "!"
	case p.Empty:
		return "="
	}
	return ""
}

// parameterIsChecked gives a parameter all values that must be refused.
func parameterIsChecked(t *testing.T, params []parameter, p parameter, refused func(query, want string)) {
	t.Helper()
	require.Contains(t, good, p.Name)
	require.True(t, p.Schema.Type == "string" || len(wrong[p.Name]) > 0, p.Name)
	if p.Required {
		refused(queryWith(params, p.Name), p.Name+": it is missing")
	}
	if !p.Empty {
		refused(queryWith(params, p.Name, ""), p.Name+": it is empty")
	}
	refused(queryWith(params, p.Name, good[p.Name], good[p.Name]), p.Name+": it is given 2 times")
	for _, v := range wrong[p.Name] {
		refused(queryWith(params, p.Name, v), p.Name)
	}
}

// queryWith returns a query of the required parameters, with the values of one in place of
// its good one.
func queryWith(params []parameter, name string, values ...string) string {
	q := url.Values{}
	for _, p := range params {
		if p.Required {
			q.Set(p.Name, good[p.Name])
		}
	}
	delete(q, name)
	if len(values) > 0 {
		q[name] = values
	}
	return q.Encode()
}
