package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/trust/trusttest"
)

// Whoever asks the node of another user changes no file that this node names: it may be one of
// another group, and the node would put its own key there by the hand of root.
func TestANodeDoesNotNameTheFilesOfOthers(t *testing.T) {
	trusttest.NeedRoot(t)
	theirs, ours := seal.NewKey(), seal.NewKey()
	write := func(k seal.Key) (file, text string) {
		r, err := seal.NewRing(k)
		require.NoError(t, err)
		file = filepath.Join(t.TempDir(), "keys")
		require.NoError(t, r.WriteFile(file))
		return file, r.Format()
	}
	victim, before := write(ours)
	more, _ := write(theirs)
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, trusttest.Nobody, 0))
	require.NoError(t, os.Chmod(dir, 0o755))
	socket := filepath.Join(dir, "s")
	l := trusttest.Listen(t, socket, trusttest.Nobody)
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/keys", func(w http.ResponseWriter, _ *http.Request) {
		api.Answer(w, http.StatusOK, api.Keys{Node: 1, File: victim, Keys: []string{ours.ID().String()}, Peers: []api.PeerKeys{}})
	})
	go func() { _ = http.Serve(l, mux) }()
	code, _, stderr := invoke("--addr", socket, "keys", "list")
	require.Zero(t, code, stderr)
	code, _, stderr = invoke("--addr", socket, "keys", "install", more)
	require.Equal(t, 2, code, stderr)
	require.Contains(t, stderr, "node 1 is user 65534's, and names the file "+victim)
	after, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, before, string(after))
	require.NoFileExists(t, victim+".lock")
}
