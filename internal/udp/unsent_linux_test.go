package udp

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/hwclock"
)

// The loopback interface reaches no other machine, and an IPv4 socket no IPv6 address. The
// socket remembers to whom it could not send, be it one packet or a train.
func TestWhyPacketsCannotBeSent(t *testing.T) {
	clock, err := hwclock.New()
	require.NoError(t, err)
	for packets := 1; packets <= 3; packets += 2 {
		c, err := Listen("127.0.0.1:0", clock, Options{})
		require.NoError(t, err)
		far, six, near := netip.MustParseAddrPort("192.0.2.1:7001"), netip.MustParseAddrPort("[2001:db8::1]:7001"), c.LocalAddr()
		for _, to := range []netip.AddrPort{far, six, near} {
			pkts := make([]Packet, packets)
			for i := range pkts {
				pkts[i] = Packet{Buf: make([]byte, 100), N: 100, Addr: to}
			}
			_, err := c.WriteBatch(pkts)
			require.NoError(t, err)
		}
		require.Equal(t, unix.EINVAL, c.Unsent(far))
		require.Equal(t, unix.EAFNOSUPPORT, c.Unsent(six))
		require.NoError(t, c.Unsent(near))
		require.EqualValues(t, packets, c.Stats().Get("send_einval"))
		require.NoError(t, c.Close())
	}
}
