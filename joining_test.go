package failaware

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first node of a group, all of which have one list, names itself.
func TestANodeKnowsItsOwnAddress(t *testing.T) {
	for listen, other := range map[string]string{"127.0.0.1:0": "127.0.0.2", "0.0.0.0:0": "192.0.2.1"} {
		n := startNode(t, Config{ID: 1, Listen: listen, Insecure: true})
		port := n.conn.LocalAddr().Port()
		own, not := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port), netip.AddrPortFrom(netip.MustParseAddr(other), port)
		require.True(t, n.onlySelf([]netip.AddrPort{own}), listen)
		require.False(t, n.onlySelf([]netip.AddrPort{own, not}), listen)
		require.False(t, n.onlySelf([]netip.AddrPort{not}), listen)
		require.False(t, n.onlySelf([]netip.AddrPort{netip.AddrPortFrom(own.Addr(), port^1)}), listen)
		require.False(t, n.onlySelf(nil), listen)
	}
}
