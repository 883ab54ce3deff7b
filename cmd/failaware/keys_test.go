package main

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/seal"
)

// A change of keys that would cut off a peer which is down is refused too. A peer whose
// keys nobody knows stops no change.
func TestKeysOfPeersThatAreDownCount(t *testing.T) {
	old, other := seal.KeyID(1), seal.KeyID(2)
	k := &api.Keys{Node: 1, Peers: []api.PeerKeys{
		{Node: 2, Alive: true, Keys: []string{other.String(), old.String()}},
		{Node: 3, Keys: []string{old.String()}},
		{Node: 4},
	}}
	require.Equal(t, []int{3}, lacking(k, other.String()))
	require.Equal(t, []int{3}, using(k, old))
	require.Equal(t, []int{2}, using(k, other))
	require.Empty(t, lacking(k, old.String()))
}

// A removal that was interrupted before the node has read its file again is finished when it is
// asked for again: the node must not go on to open packets of that key.
func TestAnInterruptedRemovalIsFinished(t *testing.T) {
	kept, gone := seal.NewKey(), seal.NewKey()
	ring, err := seal.NewRing(kept)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, ring.WriteFile(file))

	has := api.Keys{Node: 1, File: file, Keys: []string{kept.ID().String(), gone.ID().String()}, Peers: []api.PeerKeys{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/keys", func(w http.ResponseWriter, _ *http.Request) { api.Answer(w, http.StatusOK, has) })
	mux.HandleFunc("POST /v1/keys/reload", func(w http.ResponseWriter, _ *http.Request) {
		has.Keys = has.Keys[:1]
		api.Answer(w, http.StatusOK, has)
	})
	socket := serveAt(t, mux)
	code, _, stderr := invoke("--addr", socket, "keys", "remove", gone.ID().String())
	require.Equal(t, 0, code, stderr)
	require.Equal(t, []string{kept.ID().String()}, has.Keys)

	code, _, stderr = invoke("--addr", socket, "keys", "remove", gone.ID().String())
	require.Equal(t, 2, code)
	require.Equal(t, "failaware: there is no key "+gone.ID().String()+"\n", stderr)
}

// A change that would cut a peer off is refused until the peer is ready for it, so the exit code
// is that of no, and not that of a change which can never succeed. A change of a file that the
// node does not read is told.
func changesWait(t testing.TB) {
	old, next := seal.NewKey(), seal.NewKey()
	ring, err := seal.NewRing(old)
	require.NoError(t, err)
	ring, err = ring.Install(next)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, ring.WriteFile(file))

	ids := []string{old.ID().String(), next.ID().String()}
	has := api.Keys{Node: 1, File: file, Keys: ids, Peers: []api.PeerKeys{{Node: 2, Alive: true, Keys: ids[:1]}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/keys", func(w http.ResponseWriter, _ *http.Request) { api.Answer(w, http.StatusOK, has) })
	hangs, elsewhere := true, true
	mux.HandleFunc("POST /v1/keys/reload", func(w http.ResponseWriter, _ *http.Request) {
		if hangs {
			api.Fail(w, http.StatusGatewayTimeout, errors.New("the node does not answer"))
			return
		}
		if !elsewhere {
			has.Keys = []string{ids[1], ids[0]}
		}
		api.Answer(w, http.StatusOK, has)
	})
	socket := serveAt(t, mux)
	for _, c := range []struct{ command, key, says string }{
		{"use", ids[1], "nodes [2] have not said that they have key"},
		{"remove", ids[0], "nodes [2] seal packets with key"},
	} {
		code, _, stderr := invoke("--addr", socket, "keys", c.command, c.key)
		require.Equal(t, 1, code, c.command)
		require.Contains(t, stderr, c.says)
	}
	// A key that nobody has is no matter of the others.
	code, _, stderr := invoke("--addr", socket, "keys", "use", "abcdef01")
	require.NotZero(t, code)
	require.NotContains(t, stderr, "have not said")
	require.Contains(t, stderr, "abcdef01")
	// A node that does not read the file again has the former keys.
	code, _, stderr = invoke("--addr", socket, "keys", "use", ids[1], "--force")
	require.Equal(t, 1, code)
	require.Equal(t, "failaware: the node does not answer\n", stderr)
	// A node on another machine may have a file of the same path.
	hangs = false
	code, _, stderr = invoke("--addr", socket, "keys", "use", ids[1], "--force")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "the node reads another file than was changed: run this on its machine")
	elsewhere = false
	code, _, stderr = invoke("--addr", socket, "keys", "use", ids[1], "--force")
	require.Equal(t, 0, code, stderr)
	r, err := seal.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, next.ID(), r.IDs()[0])
}

func TestAChangeWaitsForThePeers(t *testing.T) { changesWait(t) }
