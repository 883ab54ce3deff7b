package udp

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

// inTurn reads packets and requires that they equal want, in order.
func inTurn(t *testing.T, c *Conn, from netip.AddrPort, want []Packet, pkts []Packet) {
	t.Helper()
	for got := 0; got < len(want); {
		n, err := c.ReadBatch(pkts, soon())
		now := testClock().Now()
		require.NoError(t, err)
		require.Positive(t, n)
		for _, p := range pkts[:n] {
			require.Less(t, got, len(want))
			require.Equal(t, want[got].N, p.N, "packet %d", got)
			require.Len(t, p.Buf, p.N)
			require.True(t, bytes.Equal(want[got].Buf[:p.N], p.Buf), "packet %d", got)
			require.Equal(t, from, p.Addr)
			require.LessOrEqual(t, p.Received, now)
			got++
		}
	}
}

// sized returns packets of the sizes, with distinct bytes.
func sized(to netip.AddrPort, sizes ...int) (pkts []Packet) {
	for i, n := range sizes {
		pkts = append(pkts, Packet{Buf: bytes.Repeat([]byte{byte(i + 1)}, n), N: n, Addr: to})
	}
	return pkts
}

func repeat(size, times int, last ...int) (sizes []int) {
	for range times {
		sizes = append(sizes, size)
	}
	return append(sizes, last...)
}

// offloads runs a test with every choice of offload.
func offloads(t *testing.T, f func(t *testing.T, opts Options)) {
	for _, o := range []Options{{}, {NoSendOffload: true}, {NoReceiveOffload: true}, {NoSendOffload: true, NoReceiveOffload: true}} {
		o.ReceiveBuffer, o.SendBuffer = 4<<20, 4<<20
		t.Run(fmt.Sprintf("plain sending %v, receiving %v", o.NoSendOffload, o.NoReceiveOffload), func(t *testing.T) { f(t, o) })
	}
}

func TestTrainsOfAllShapesArriveAsPacketsInOrder(t *testing.T) {
	offloads(t, func(t *testing.T, opts Options) {
		for _, hosts := range [][2]string{{"127.0.0.1", "127.0.0.1"}, {"[::1]", "[::1]"}, {"127.0.0.1", ""}, {"[::1]", ""}} {
			a, err := Listen(hosts[0]+":0", testClock(), opts)
			if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT) {
				continue // no IPv6 here
			}
			require.NoError(t, err)
			b := listen(t, hosts[1]+":0", opts)
			to := netip.AddrPortFrom(a.LocalAddr().Addr(), b.LocalAddr().Port())
			for _, sizes := range [][]int{
				{1}, {0}, {0, 0, 0}, repeat(1, 2), repeat(1, 63), repeat(1, 64), repeat(1, 65), repeat(9, 130),
				repeat(64, 64, 63), repeat(64, 64, 65), repeat(200, 20, 0, 200, 200), {5, 4, 4, 4, 5, 5, 6, 6, 1},
				repeat(1024, 63), repeat(1024, 64), repeat(1472, 44, 701), repeat(1472, 44, 702), repeat(8192, 7, 8125),
				repeat(8192, 8), repeat(16384, 3, 16317), repeat(16384, 4), {32735, 32735, 32734}, repeat(65000, 3),
			} {
				out := sized(to, sizes...)
				sent, err := a.WriteBatch(out)
				require.NoError(t, err)
				require.Equal(t, len(out), sent)
				inTurn(t, b, a.LocalAddr(), out, room(50))
			}
			together, coalesced := a.Stats().Get("sent_together"), b.Stats().Get("received_coalesced")
			require.Equal(t, !opts.NoSendOffload, together > 0)
			if opts.NoReceiveOffload {
				require.Zero(t, coalesced)
			} else {
				require.Equal(t, together, coalesced)
			}
			require.Zero(t, a.Stats().Get("offload_refused"))
			require.Equal(t, a.Stats().Get("sent_bytes"), b.Stats().Get("received_bytes"))
			require.Equal(t, a.Stats().Get("sent_packets"), b.Stats().Get("received_packets"))
			require.NoError(t, a.Close())
		}
	})
}

func TestPacketsToSeveralAddressesAreCoupledAndKeepTheirOrder(t *testing.T) {
	a := listen(t, "127.0.0.1:0", Options{SendBuffer: 4 << 20})
	const ends = 5
	var conns []*Conn
	var out []Packet
	want := make([][]Packet, ends)
	for range ends {
		conns = append(conns, listen(t, "127.0.0.1:0", Options{ReceiveBuffer: 4 << 20}))
	}
	for i := range 300 {
		for e, c := range conns {
			p := packetTo(c.LocalAddr(), fmt.Sprintf("packet %03d to %d", i, e))
			if (i+e)%17 == 0 {
				p.N--
			}
			want[e] = append(want[e], p)
			out = append(out, p)
		}
	}
	sent, err := a.WriteBatch(out)
	require.NoError(t, err)
	require.Equal(t, len(out), sent)
	for e, c := range conns {
		inTurn(t, c, a.LocalAddr(), want[e], room(64))
	}
	require.Greater(t, a.Stats().Get("sent_together"), uint64(len(out)*9/10))
}

// Packets may share their tails, and the kernel may refuse to cut trains of them.
func TestTailsArriveAsPartsOfTheirPackets(t *testing.T) {
	offloads(t, func(t *testing.T, opts Options) {
		for _, refused := range []bool{false, true} {
			a := listen(t, "127.0.0.1:0", opts)
			conns := []*Conn{listen(t, "127.0.0.1:0", opts), listen(t, "127.0.0.1:0", opts)}
			if refused {
				require.NoError(t, a.sock.raw.Control(func(fd uintptr) {
					require.NoError(t, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_NO_CHECK, 1))
				}))
			}
			var out []Packet
			want := make([][]Packet, len(conns))
			for i := range 40 {
				tail := bytes.Repeat([]byte{byte(i)}, 500+i/10)
				if i%7 == 0 {
					tail = nil
				}
				for e, c := range conns {
					p := packetTo(c.LocalAddr(), fmt.Sprintf("packet %03d to %d", i, e))
					p.Tail = tail
					out = append(out, p)
					whole := append([]byte(nil), p.Buf[:p.N]...)
					whole = append(whole, tail...)
					want[e] = append(want[e], Packet{Buf: whole, N: len(whole)})
				}
			}
			sent, err := a.WriteBatch(out)
			require.NoError(t, err)
			require.Equal(t, len(out), sent)
			for e, c := range conns {
				inTurn(t, c, a.LocalAddr(), want[e], room(64))
			}
			require.Equal(t, a.Stats().Get("sent_bytes"), conns[0].Stats().Get("received_bytes")+conns[1].Stats().Get("received_bytes"))
		}
	})
}

// The kernel does not cut trains for a socket without checksums.
func TestARefusedTrainIsSentPacketByPacket(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{SendBuffer: 4 << 20}), listen(t, "127.0.0.1:0", Options{ReceiveBuffer: 4 << 20})
	require.NoError(t, a.sock.raw.Control(func(fd uintptr) {
		require.NoError(t, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_NO_CHECK, 1))
	}))
	for range 2 {
		out := sized(b.LocalAddr(), append(repeat(100, 70, 50), 7, 7, 7)...)
		sent, err := a.WriteBatch(out)
		require.NoError(t, err)
		require.Equal(t, len(out), sent)
		inTurn(t, b, a.LocalAddr(), out, room(64))
	}
	s := a.Stats()
	require.EqualValues(t, 1, s.Get("offload_refused"))
	require.Zero(t, s.Get("sent_together"))
	require.EqualValues(t, 2*74, s.Get("sent_packets"))
	require.Equal(t, s.Get("sent_bytes"), b.Stats().Get("received_bytes"))
	require.Zero(t, s.Get("send_einval"), "no packet was refused")
}

func TestASmallSendBufferTakesTrains(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{SendBuffer: 1}), listen(t, "127.0.0.1:0", Options{ReceiveBuffer: 4 << 20})
	out := sized(b.LocalAddr(), repeat(1400, 64)...)
	sent, err := a.WriteBatch(out)
	require.NoError(t, err)
	require.Equal(t, len(out), sent)
	inTurn(t, b, a.LocalAddr(), out, room(64))
}

// Packets that are too long for every interface do not disable offload.
func TestPacketsTooLongForTheInterfaceAreReported(t *testing.T) {
	far := netip.MustParseAddrPort("192.0.2.1:9") // an address for documents
	const tooLong = 30_000
	a := listen(t, "0.0.0.0:0", Options{})
	_, err := a.WriteBatch(sized(far, tooLong))
	require.NoError(t, err)
	if a.Stats().Get("send_emsgsize") == 0 {
		t.Skip("no interface with a small MTU")
	}
	b := listen(t, "127.0.0.1:0", Options{})
	out := sized(b.LocalAddr(), 10, 10)
	sent, err := a.WriteBatch(append(sized(far, tooLong, tooLong), out...))
	require.NoError(t, err)
	require.Equal(t, 2, sent)
	from := netip.AddrPortFrom(b.LocalAddr().Addr(), a.LocalAddr().Port())
	inTurn(t, b, from, out, room(4))
	s := a.Stats()
	require.EqualValues(t, 3, s.Get("send_emsgsize"))
	require.EqualValues(t, 2, s.Get("sent_together"))
	require.Zero(t, s.Get("offload_refused"))
}

// Of coalesced packets, the first has a stamp of the kernel. The others have one if
// they were certainly sent together.
func TestCoalescedPacketsCountAsReceivedNotTooEarly(t *testing.T) {
	hosts := map[string]bool{"127.0.0.1": true}
	addrs, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
			hosts[ip.IP.String()] = false
		}
	}
	for host, loopback := range hosts {
		a, b := listen(t, host+":0", Options{}), listen(t, host+":0", Options{})
		out, in := sized(b.LocalAddr(), 9, 9, 9), room(8)
		used := false
		for i := 0; i < 50 && !used; i++ { // see TestAPacketCountsAsReceivedWhenItCameNotWhenItWasRead
			n, err := b.ReadBatch(in, testClock().Now())
			require.NoError(t, err)
			require.Zero(t, n)
			before := testClock().Now()
			_, err = a.WriteBatch(out)
			require.NoError(t, err)
			time.Sleep(5 * time.Millisecond)
			reading := testClock().Now()
			n, err = b.ReadBatch(in, soon())
			require.NoError(t, err)
			require.Equal(t, 3, n)
			require.GreaterOrEqual(t, in[0].Received, before)
			used = in[0].Received < reading
			for _, p := range in[1:3] {
				if loopback {
					require.Equal(t, in[0].Received, p.Received)
				} else {
					require.GreaterOrEqual(t, p.Received, reading)
				}
			}
		}
		require.True(t, used)
		require.Positive(t, b.Stats().Get("received_coalesced"))
	}
}

func TestRemainingPacketsComeWithTheNextCall(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{MaxPacket: 20})
	out := sized(b.LocalAddr(), 20, 20, 20, 9, 21, 21, 20, 5, 5)
	_, err := a.WriteBatch(out)
	require.NoError(t, err)
	inTurn(t, b, a.LocalAddr(), append(out[:4:4], out[6:]...), room(1))
	require.EqualValues(t, 2, b.Stats().Get("received_truncated"))

	_, err = a.WriteBatch(out)
	require.NoError(t, err)
	inTurn(t, b, a.LocalAddr(), out[:2], room(2))
	require.NoError(t, b.Close())
	_, err = b.ReadBatch(room(2), 0)
	require.ErrorIs(t, err, net.ErrClosed, "with packets left")
}

func TestCloseDuringHeavyTraffic(t *testing.T) {
	for range 20 {
		a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
		var ends sync.WaitGroup
		ends.Go(func() {
			for out := equals(100, 500, b.LocalAddr()); ; {
				if _, err := a.WriteBatch(out); err != nil {
					assert.ErrorIs(t, err, net.ErrClosed)
					return
				}
			}
		})
		arrived := make(chan struct{})
		ends.Go(func() {
			in, once := room(10), sync.OnceFunc(func() { close(arrived) })
			for {
				n, err := b.ReadBatch(in, timed.Never)
				if err != nil {
					assert.ErrorIs(t, err, net.ErrClosed)
					return
				}
				for _, p := range in[:n] {
					assert.Len(t, p.Buf, 500)
					once()
				}
			}
		})
		<-arrived
		require.NoError(t, b.Close())
		require.NoError(t, a.Close())
		ends.Wait()
	}
}

func TestBuffersReportTheKernelsAccounting(t *testing.T) {
	small := listen(t, "127.0.0.1:0", Options{ReceiveBuffer: 1 << 16, SendBuffer: 1 << 15})
	receive, send := small.Buffers()
	require.Equal(t, 2<<16, receive)
	require.Equal(t, 2<<15, send)
	require.NoError(t, small.Close())
	receive, send = small.Buffers()
	require.Zero(t, receive+send)
}
