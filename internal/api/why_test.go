package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// A peer that lacks the key of this node's packets cannot hear it: who asks why a peer is as it
// is learns that.
func TestWhyNamesTheKeyThatAPeerLacks(t *testing.T) {
	s := failaware.Status{Keys: []failaware.KeyID{7, 5}, Peers: []failaware.PeerStatus{
		{ID: 2, Keys: []failaware.KeyID{5}}, {ID: 3, Keys: []failaware.KeyID{5, 7}}, {ID: 4}}}
	require.Contains(t, peerText(&s, 2), "it lacks the key "+s.Keys[0].String()+" of this node's packets")
	require.NotContains(t, peerText(&s, 3), "key")
	require.NotContains(t, peerText(&s, 4), "key", "nothing is known of its keys")
	require.Equal(t, "node 9: this node has never heard of it", peerText(&s, 9))
	s.Keys = nil
	require.NotContains(t, peerText(&s, 2), "key")
}
