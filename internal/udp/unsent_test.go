package udp

import (
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// failuresAreForgotten notes failures to send. Only what no other packet would change is named,
// for a while, and few addresses are.
func failuresAreForgotten(t testing.TB) {
	var u unsent
	a := netip.MustParseAddrPort("192.0.2.1:7001")
	now := time.Now()
	require.NoError(t, u.at(a, now))
	for _, errno := range []syscall.Errno{0, syscall.EAGAIN, syscall.ENOBUFS, syscall.EMSGSIZE, syscall.ECONNREFUSED} {
		u.note(a, errno, now)
		require.NoError(t, u.at(a, now), errno.Error())
	}
	u.note(a, syscall.ENETUNREACH, now)
	for range 2 { // who asks forgets nothing
		require.Equal(t, syscall.ENETUNREACH, u.at(a, now.Add(unsentFor)))
	}
	require.NoError(t, u.at(a, now.Add(unsentFor+1)))
	for port := range uint16(2 * maxUnsent) {
		u.note(netip.AddrPortFrom(a.Addr(), port+1), syscall.EPERM, now)
	}
	require.Len(t, u.last, maxUnsent)
	u.note(a, syscall.EHOSTDOWN, now.Add(1))
	require.Equal(t, syscall.EHOSTDOWN, u.at(a, now.Add(unsentFor+1)), "it is known, so it takes no room")
	later := now.Add(time.Minute)
	u.note(netip.AddrPortFrom(a.Addr(), 60000), syscall.EINVAL, later)
	require.Len(t, u.last, 1)
	require.Equal(t, syscall.EINVAL, u.at(netip.AddrPortFrom(a.Addr(), 60000), later))
}

func TestFailuresToSendAreForgotten(t *testing.T) { failuresAreForgotten(t) }

// The system is not asked about such an address everywhere.
func TestAnIPv4SocketReachesNoIPv6Address(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	six := netip.MustParseAddrPort("[2001:db8::1]:7001")
	sent, err := c.WriteBatch([]Packet{packetTo(six, "x")})
	require.NoError(t, err)
	require.Zero(t, sent)
	require.Equal(t, syscall.EAFNOSUPPORT, c.Unsent(six))
	require.EqualValues(t, 1, c.Stats().Get("send_eafnosupport"))
}
