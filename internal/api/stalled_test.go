package api

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// A node whose loop does not answer knows nothing of its peers. It does not say that it has
// never heard of one, and lists no keys without those of its peers: who looks for a peer that
// lacks a key would find none.
func TestAStalledLoopKnowsNothingOfPeers(t *testing.T) {
	var stalled sync.Mutex
	n := startNode(t, failaware.Config{ID: 1, OnPublish: func(failaware.Published) {
		stalled.Lock()
		defer stalled.Unlock()
	}})
	stalled.Lock()
	defer stalled.Unlock()
	for n.Status().Age >= 0 { // until it publishes the next time
	}
	require.Equal(t, "node 2: not known: the loop of the node does not answer: it waits for a disk or a processor", peerState(n, 2))
	_, err := keysAnswer(n)
	require.ErrorIs(t, err, errStalled)
}
