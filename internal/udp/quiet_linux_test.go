package udp

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

// withQuiet returns a reader that sleeps through packets whose second byte is odd, and a
// sender.
func withQuiet(t *testing.T) (reader, sender *Conn) {
	return quietReader(t, 0), listen(t, "127.0.0.1:0", Options{})
}

// quietReader returns a reader that sleeps through such packets, except one in oneIn if
// that is not 0.
func quietReader(t *testing.T, oneIn int) *Conn {
	r := listen(t, "127.0.0.1:0", Options{Quiet: &Quiet{Offset: 1, Mask: 1, OneIn: oneIn}})
	if r.sock.quiet == nil {
		t.Skip("the kernel cannot tell packets apart")
	}
	return r
}

func write(t *testing.T, from *Conn, pkts ...Packet) {
	t.Helper()
	sent, err := from.WriteBatch(pkts)
	require.NoError(t, err)
	require.Equal(t, len(pkts), sent)
}

// arrived waits until packets have come to a reader, and reports whether quiet ones have, and
// whether anything has that ends a wait.
func arrived(t *testing.T, r *Conn) (quiet, ends bool) {
	t.Helper()
	var fds [2]unix.PollFd
	for i, raw := range []syscall.RawConn{r.sock.quiet.raw, r.sock.waiter.raw} {
		require.NoError(t, raw.Control(func(fd uintptr) { fds[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN} }))
	}
	err := error(syscall.EINTR)
	for err == syscall.EINTR {
		_, err = unix.Poll(fds[:], -1)
	}
	require.NoError(t, err)
	return fds[0].Revents != 0, fds[1].Revents != 0
}

// A quiet packet that has come is at hand, and does not end a wait. Another one does.
func TestAQuietPacketDoesNotEndAWait(t *testing.T) {
	r, s := withQuiet(t)
	write(t, s, packetTo(r.LocalAddr(), "a1"))
	quiet, ends := arrived(t, r)
	require.True(t, quiet)
	require.False(t, ends)
	write(t, s, packetTo(r.LocalAddr(), "b2"))
	in := room(4)
	n, err := r.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.EqualValues(t, 1, r.Stats().Get("received_quiet"))
}

func TestQuietPacketsComeInTheOrderOfReceipt(t *testing.T) {
	r, s := withQuiet(t)
	for _, all := range [][]string{{"a1", "b2", "c3", "d4", "e", ""}, {"a1", "b3", "c2", "d5"}} {
		for _, payload := range all {
			write(t, s, packetTo(r.LocalAddr(), payload))
		}
		in, got := room(8), []string{}
		n, err := r.ReadBatch(in, timed.Never)
		require.NoError(t, err)
		for i, p := range in[:n] {
			got = append(got, string(p.Buf))
			require.True(t, i == 0 || in[i-1].Received <= p.Received)
		}
		require.ElementsMatch(t, all, got)
	}
}

// A batch that packets could fill has room for the quiet ones that came before them.
func TestQuietPacketsHaveRoomBesideOthers(t *testing.T) {
	r, s := withQuiet(t)
	write(t, s, packetTo(r.LocalAddr(), "a1"))
	for range 40 {
		write(t, s, packetTo(r.LocalAddr(), "b2"))
	}
	in := room(8)
	n, err := r.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(in[:n], func(p Packet) bool { return string(p.Buf) == "a1" }))
}

// However many packets are waiting, the quiet ones among them come with them.
func TestQuietPacketsDoNotFallBehind(t *testing.T) {
	r, s := withQuiet(t)
	var all []string
	for i := range 24 {
		all = append(all, fmt.Sprintf("%c%d", 'a'+i, i/4%2+1)) // four quiet ones, then four others
	}
	for _, payload := range all {
		write(t, s, packetTo(r.LocalAddr(), payload))
	}
	for eight := range slices.Chunk(all, 8) {
		var got []string
		in := room(len(eight))
		n, err := r.ReadBatch(in, timed.Never)
		require.NoError(t, err)
		for _, p := range in[:n] {
			got = append(got, string(p.Buf))
		}
		require.ElementsMatch(t, eight, got)
	}
}

// A flood of quiet packets ends a wait.
func TestManyQuietPacketsEndAWait(t *testing.T) {
	r := quietReader(t, 4)
	s := listen(t, "127.0.0.1:0", Options{NoSendOffload: true})
	for range 200 {
		write(t, s, packetTo(r.LocalAddr(), "a1"))
	}
	n, err := r.ReadBatch(room(8), timed.Never)
	require.NoError(t, err)
	require.Positive(t, n)
}

func TestALongPacketIsNotQuiet(t *testing.T) {
	r, s := withQuiet(t)
	write(t, s, packetTo(r.LocalAddr(), strings.Repeat("1", quietSize+1)))
	in := room(1)
	n, err := r.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, quietSize+1, in[0].N)
	require.Zero(t, r.Stats().Get("received_quiet"))
}

// Quiet packets for which there was no room come with the next calls, which do not wait.
func TestMoreQuietPacketsThanRoom(t *testing.T) {
	r, s := withQuiet(t)
	const all = receiveBuffers + 10
	for range all {
		write(t, s, packetTo(r.LocalAddr(), "a1"))
	}
	r.Wake()
	got, deadline := 0, testClock().Now().Add(time.Hour)
	for _, size := range []int{5, 1, 2 * receiveBuffers} {
		n, err := r.ReadBatch(room(size), deadline)
		require.NoError(t, err)
		got += n
	}
	require.Equal(t, 5+1+receiveBuffers, got)
	n, err := r.ReadBatch(room(all), deadline)
	require.NoError(t, err)
	require.Equal(t, all-got, n)
}

// Two sockets share the address, and yet nobody else gets it.
func TestAnAddressWithQuietPacketsIsTaken(t *testing.T) {
	r, _ := withQuiet(t)
	for _, o := range []Options{{}, {Quiet: &Quiet{Mask: 1}}} {
		_, err := Listen(r.LocalAddr().String(), testClock(), o)
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	}
}

func TestQuietPacketsComeOverBothFamilies(t *testing.T) {
	r := listen(t, ":0", Options{Quiet: &Quiet{Offset: 1, Mask: 1}})
	if r.sock.quiet == nil {
		t.Skip("the kernel cannot tell packets apart")
	}
	s := listen(t, ":0", Options{})
	write(t, s, packetTo(addrAt("127.0.0.1", r), "a1"))
	write(t, s, packetTo(addrAt("127.0.0.1", r), "b2"))
	in := room(4)
	n, err := r.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.EqualValues(t, 1, r.Stats().Get("received_quiet"))
	require.True(t, in[0].Addr.Addr().Is4())
}

func addrAt(ip string, c *Conn) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(ip), c.LocalAddr().Port())
}

// A socket that gets no second one shares its address with nobody.
func TestASocketWithoutASecondOneStaysAlone(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	require.NoError(t, err)
	defer func() { _ = unix.Close(fd) }()
	elsewhere := netip.MustParseAddrPort("192.0.2.1:9")
	_, err = newQuietSocket(fd, unix.AF_INET, elsewhere, testClock(), &Options{Batch: 1, Quiet: &Quiet{}}, new(counters))
	require.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
	shared, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT)
	require.NoError(t, err)
	require.Zero(t, shared)
}
