package api

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/why"
	"github.com/failaware/failaware/leader/quorum"
)

// A node whose loop does not answer knows nothing of its peers. It does not say that it has
// never heard of one, and lists no keys without those of its peers: who looks for a peer that
// lacks a key would find none.
func TestAStalledLoopKnowsNothingOfPeers(t *testing.T) {
	var stalled sync.Mutex
	system, err := quorum.Parse("majority:1,2,3")
	require.NoError(t, err)
	n := startNode(t, failaware.Config{ID: 1, Quorum: system, StateDir: t.TempDir(), OnPublish: func(failaware.Published) {
		stalled.Lock()
		defer stalled.Unlock()
	}})
	stalled.Lock()
	defer stalled.Unlock()
	for n.Status().Age >= 0 { // until it publishes the next time
	}
	require.Equal(t, "node 2: not known: the loop of the node does not answer: it waits for a disk or a processor", peerState(n, 2))
	cfg, status := n.Config(), n.Status()
	require.Equal(t, int64(-1), membersAnswer(n).AgeNS)
	require.Equal(t, int64(-1), StatusOf(&status, &cfg, "").AgeNS)
	_, err = keysAnswer(n)
	require.ErrorIs(t, err, errStalled)
	require.False(t, n.Epoch().Static)
	err = NewServer(n).heard(httptest.NewRequest(http.MethodPost, "/v1/epoch/change", nil), system)
	require.ErrorIs(t, err, errStalled, "who reads that no quorum is heard may force a change")
	require.Equal(t, http.StatusGatewayTimeout, changeCode(err, false))
	a, err := Explain(n, why.NewRecord(n.Config().Timing, n.Bounds()), "leader", "")
	require.NoError(t, err)
	require.NotContains(t, a.State, "in touch", "nobody knows who is heard")
}
