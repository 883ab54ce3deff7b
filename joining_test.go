package failaware

import (
	"io/fs"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/wire"
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

// A node reads the largest packets of all that it takes part in, with their seals.
func TestTheLargestPacketHasItsSeal(t *testing.T) {
	c := Config{MaxPacket: 1400}
	require.Equal(t, 1400, c.largestPacket())
	c.KeyFile = "keys"
	require.Equal(t, 1400+seal.SharedOverhead, c.largestPacket())
	c.Broadcast = &BroadcastConfig{}
	require.Equal(t, wire.MaxBroadcast+seal.SharedOverhead, c.largestPacket())
}

// refusing is a connection whose packets the system refuses.
type refusing struct{ transport.Conn }

func (refusing) LocalAddr() netip.AddrPort   { return netip.MustParseAddrPort("127.0.0.1:1") }
func (refusing) Unsent(netip.AddrPort) error { return fs.ErrPermission }

// It is said of packets to other machines only that the address reaches this machine only.
func TestARefusalOnThisMachineIsNotOfItsAddress(t *testing.T) {
	n := &Node{conn: refusing{}}
	require.Contains(t, n.unsentTo(netip.MustParseAddrPort("192.0.2.1:1")), "this machine only")
	require.Equal(t, "cannot send to 127.0.0.2:1 from the address 127.0.0.1: permission denied", n.unsentTo(netip.MustParseAddrPort("127.0.0.2:1")))
}
