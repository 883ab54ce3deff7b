package api

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/kv"
)

// Each path has its method, and HEAD if that is GET.
func TestPathsHaveTheirMethods(t *testing.T) {
	h := NewServer(startNode(t, failaware.Config{ID: 1})).Handler()
	for _, r := range routes {
		if strings.HasSuffix(r.path, "/leave") || strings.HasSuffix(r.path, "/resign") {
			continue // no answer to their own method is needed to see those of others
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
			w := httptest.NewRecorder()
			// A parameter that no path has is refused after the method.
			h.ServeHTTP(w, httptest.NewRequest(method, r.path+"?none=1", nil))
			allowed := method == r.method || method == "HEAD" && r.method == "GET"
			require.Equal(t, !allowed, w.Code == http.StatusMethodNotAllowed, "%s %s: %d", method, r.path, w.Code)
		}
	}
}

// The limits of parameters belong to what is taken.
func TestLimitsOfParametersAreTaken(t *testing.T) {
	_, c := serveStore(t)
	for _, r := range [][]string{
		{"GET", "list", "wait", MostPatience.String()}, {"GET", "list", "limit", "1"}, {"GET", "list", "limit", "1000"},
		{"POST", "lease/grant", "ttl", kv.MinTTL.String()}, {"POST", "lease/grant", "ttl", kv.MaxTTL.String()},
	} {
		ask[KVWrite](t, c, 200, r[0], r[1], "", r[2:]...)
	}
}

// A token may have white space around it, as an editor leaves.
func TestTokensMayHaveSpaceAround(t *testing.T) {
	const token = "0123456789abcdef"
	path := filepath.Join(t.TempDir(), "token")
	for _, text := range []string{token, token + "\n", token + "\r\n", " \t" + token + " \n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := ReadToken(path)
		require.NoError(t, err, "%q", text)
		require.Equal(t, token, got)
	}
}

// What a node knows of peers leaves out those of unknown ids, and itself.
func TestPeersOfUnknownIDsAreLeftOut(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1, Peers: []failaware.Peer{{Addr: "127.0.0.1:9"}, {ID: 2, Addr: "127.0.0.1:19"}}})
	s := NewServer(n)
	defer s.Close()
	keys, err := keysAnswer(n)
	require.NoError(t, err)
	require.Equal(t, []PeerKeys{{Node: 2, Keys: []string{}}}, keys.Peers)
	_, err = Explain(n, s.causes, "1", "")
	require.ErrorContains(t, err, "node 1 is this node")
	_, err = Explain(n, s.causes, "2", "")
	require.NoError(t, err)
}
