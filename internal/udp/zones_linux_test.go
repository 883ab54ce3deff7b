package udp

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An interface may get another index, as when it is made again: the zones are asked for again after a while.
func zonesAreAskedAgain(t testing.TB) {
	lo, err := net.InterfaceByName("lo")
	require.NoError(t, err)
	var z zones
	require.EqualValues(t, lo.Index, z.index("lo"))
	require.Equal(t, "lo", z.name(uint32(lo.Index)))
	z.indices["lo"], z.names[uint32(lo.Index)] = 4711, "former"
	require.EqualValues(t, 4711, z.index("lo"), "for a while")
	z.until = time.Now().Add(-time.Nanosecond)
	require.EqualValues(t, lo.Index, z.index("lo"))
	require.Equal(t, "lo", z.name(uint32(lo.Index)))
}

func TestZonesAreAskedForAgain(t *testing.T) { zonesAreAskedAgain(t) }

// An IPv4 address in the form of IPv6 is the same address.
func TestMappedAddressesAreSentTo(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
	p := packetTo(netip.AddrPortFrom(netip.AddrFrom16(b.LocalAddr().Addr().As16()), b.LocalAddr().Port()), "one")
	sent, err := a.WriteBatch([]Packet{p})
	require.NoError(t, err)
	require.Equal(t, 1, sent)
}
