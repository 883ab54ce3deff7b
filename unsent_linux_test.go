package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A node that listens on the loopback interface says that it cannot send to other machines.
func TestWhyNothingCanBeSentIsNamed(t *testing.T) {
	const far = "192.0.2.1:7001"
	n := startNode(t, Config{ID: 2, Insecure: true, Peers: []Peer{{1, far}}, Join: []string{far}})
	const want = "cannot send to 192.0.2.1:7001 from the address 127.0.0.1: invalid argument; that address reaches this machine only"
	eventually(t, "the reason for the peer and for the place", func() bool {
		s := n.Status()
		return len(s.Peers) == 1 && s.Peers[0].Unsent == want && len(s.Join) == 1 && s.Join[0].Unsent == want
	})
	require.Equal(t, "node 1: this node "+want, n.Status().Peers[0].String())
	require.Empty(t, n.unsentTo(n.Addr()))
}
