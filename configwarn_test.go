package failaware

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// A packet must fit with the headers that its socket sends, or the warning comes too early, or
// not at all.
func TestHeadersOfTheAddressFamily(t *testing.T) {
	for addr, bytes := range map[string]int{
		"192.0.2.1": 28, "0.0.0.0": 28, "::": 28, "::ffff:192.0.2.1": 28, "2001:db8::1": 48, "fe80::1%eth0": 48,
	} {
		require.Equal(t, bytes, headersFor(netip.MustParseAddr(addr)), addr)
	}
	require.Equal(t, 28, headersFor(netip.Addr{}), "a name, or no address")
}
