package main

import (
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
	require.Equal(t, []int{3}, lacking(k, other))
	require.Equal(t, []int{3}, using(k, old))
	require.Equal(t, []int{2}, using(k, other))
	require.Empty(t, lacking(k, old))
}
