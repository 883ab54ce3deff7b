package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A peer that is silent may have the key by now.
func TestOnlyPeersThatAreHeardLackAKey(t *testing.T) {
	peers := []PeerStatus{
		{ID: 2, Alive: true, Keys: []KeyID{7, 8}},
		{ID: 3, Alive: true, Keys: []KeyID{7}},
		{ID: 4, Keys: []KeyID{7}},
		{Listed: "host:1"},
	}
	require.Equal(t, timed.SetOf(3), deaf(peers, 8))
}
