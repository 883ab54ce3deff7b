package reference

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// A name that cannot be looked up keeps its addresses: a server is not lost with the DNS.
func failedLookupKeeps(t testing.TB) {
	a := netip.MustParseAddrPort("192.0.2.1:123")
	s := newServer(Config{NTP: "ntp.example.invalid"}, hardware(t), 0)
	s.addrs = []netip.AddrPort{a}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.lookup(ctx))
	require.Equal(t, []netip.AddrPort{a}, s.addrs)
	s.addrs = nil
	require.Error(t, s.lookup(ctx))
}

func TestAFailedLookupKeepsTheAddresses(t *testing.T) { failedLookupKeeps(t) }
