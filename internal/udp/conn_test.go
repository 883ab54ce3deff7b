package udp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

var testClock = sync.OnceValue(func() *hwclock.Clock {
	c, err := hwclock.New()
	if err != nil {
		panic(err)
	}
	return c
})

func listen(t testing.TB, addr string, opts Options) *Conn {
	t.Helper()
	c, err := Listen(addr, testClock(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// room returns empty packets to read into.
func room(n int) []Packet { return make([]Packet, n) }

func packetTo(addr netip.AddrPort, payload string) Packet {
	return Packet{Buf: []byte(payload), N: len(payload), Addr: addr}
}

// equals returns packets of one size to one address, with their number in front.
func equals(n, size int, to netip.AddrPort) []Packet {
	pkts := make([]Packet, n)
	for i := range pkts {
		pkts[i] = Packet{Buf: make([]byte, size), N: size, Addr: to}
		binary.BigEndian.PutUint16(pkts[i].Buf, uint16(i))
	}
	return pkts
}

// soon is a deadline for immediate events: it only ends a failing test.
func soon() timed.Instant { return testClock().Now().Add(20 * time.Second) }

func TestPacketsArriveInBatchesWithAddressesAndStamps(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		t.Run(host, func(t *testing.T) {
			if probe, err := net.ListenPacket("udp", host+":0"); err != nil {
				t.Skip(err)
			} else {
				_ = probe.Close()
			}
			a, b := listen(t, host+":0", Options{}), listen(t, host+":0", Options{Batch: 16})
			const total = 100
			var out []Packet
			bytes := 0
			for i := range total {
				out = append(out, packetTo(b.LocalAddr(), fmt.Sprintf("packet %d", i)))
				bytes += out[i].N
			}
			in := room(total)
			beforeSending := testClock().Now()
			sent, err := a.WriteBatch(out)
			require.NoError(t, err)
			require.Equal(t, total, sent)
			for got := 0; got < total; {
				n, err := b.ReadBatch(in, soon())
				now := testClock().Now()
				require.NoError(t, err)
				require.Positive(t, n)
				require.LessOrEqual(t, n, total)
				for _, p := range in[:n] {
					require.Equal(t, fmt.Sprintf("packet %d", got), string(p.Buf[:p.N]))
					require.Equal(t, a.LocalAddr(), p.Addr)
					require.GreaterOrEqual(t, p.Received, beforeSending)
					require.LessOrEqual(t, p.Received, now)
					got++
				}
			}
			require.EqualValues(t, total, a.Stats().Get("sent_packets"))
			require.EqualValues(t, bytes, a.Stats().Get("sent_bytes"))
			require.EqualValues(t, total, b.Stats().Get("received_packets"))
			require.EqualValues(t, bytes, b.Stats().Get("received_bytes"))
		})
	}
}

func TestASocketOfAllAddressesSpeaksIPv4WithPlainAddresses(t *testing.T) {
	all, four := listen(t, ":0", Options{ReceiveBuffer: 1 << 20, SendBuffer: 1 << 20}), listen(t, "127.0.0.1:0", Options{})
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), all.LocalAddr().Port())
	_, err := four.WriteBatch([]Packet{packetTo(to, "ping")})
	require.NoError(t, err)
	in := room(2)
	n, err := all.ReadBatch(in, soon())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, four.LocalAddr(), in[0].Addr)
	_, err = all.WriteBatch([]Packet{packetTo(in[0].Addr, "pong")})
	require.NoError(t, err)
	n, err = four.ReadBatch(in, soon())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, to, in[0].Addr)
}

func TestReadBatchEndsAtTheDeadlineAndNotBefore(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	in := room(1)
	for _, wait := range []time.Duration{-time.Second, 0, time.Microsecond, time.Millisecond, 30 * time.Millisecond, 10 * time.Millisecond} {
		deadline := testClock().Now().Add(wait)
		n, err := c.ReadBatch(in, deadline)
		require.NoError(t, err)
		require.Zero(t, n)
		require.GreaterOrEqual(t, testClock().Now(), deadline)
	}
}

func TestADeadlineThatMovesEarlierIsKept(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	in := room(1)
	_, err := c.WriteBatch([]Packet{packetTo(c.LocalAddr(), "x")})
	require.NoError(t, err)
	n, err := c.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	go func() {
		time.Sleep(time.Millisecond)
		c.Wake()
	}()
	n, err = c.ReadBatch(in, testClock().Now().Add(time.Hour)) // arms a far deadline
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = c.ReadBatch(in, testClock().Now().Add(time.Millisecond)) // hangs unless the timer is set again
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestAWakeBeforeTheCallIsNotLostAndWakesCountOnce(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	in := room(1)
	c.Wake()
	c.Wake()
	n, err := c.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.Zero(t, n)
	deadline := testClock().Now().Add(2 * time.Millisecond)
	n, err = c.ReadBatch(in, deadline)
	require.NoError(t, err)
	require.Zero(t, n)
	require.GreaterOrEqual(t, testClock().Now(), deadline, "the second wake was reported with the first")
}

// wakesAreHeard wakes a reader at all places on its way to sleep. It ends the reader if that
// sleeps on.
func wakesAreHeard(t testing.TB) {
	c := listen(t, "127.0.0.1:0", Options{})
	const rounds = 20_000
	var posted, seen atomic.Int64
	const forEver = 5 * time.Second
	sleeps := time.AfterFunc(forEver, func() { _ = c.Close() })
	defer sleeps.Stop()
	done := make(chan error, 1)
	go func() {
		defer seen.Store(rounds)
		in := room(4)
		for i := 0; seen.Load() < rounds; i++ {
			deadline := timed.Never // a lost wake would be for ever
			if i%3 == 1 {
				deadline = testClock().Now().Add(time.Duration(i%7) * 10 * time.Microsecond)
			}
			if _, err := c.ReadBatch(in, deadline); err != nil {
				done <- err
				return
			}
			seen.Store(posted.Load())
		}
		done <- nil
	}()
	random, spun := rand.New(rand.NewPCG(1, 2)), 0
	for i := range int64(rounds) {
		posted.Store(i + 1)
		c.Wake()
		if i%64 == 0 { // let the reader fall asleep, and see that it did get up
			sleeps.Reset(forEver)
			for seen.Load() <= i {
				time.Sleep(time.Microsecond)
			}
		}
		if i%2 == 0 { // or meet it anywhere
			for seen.Load() <= i {
				runtime.Gosched()
			}
			for range random.IntN(3000) {
				spun++
			}
		}
	}
	require.NoError(t, <-done, "a wake is lost")
}

func TestNoWakeIsLost(t *testing.T) { wakesAreHeard(t) }

func TestListenNamesAnAddressOfAnotherMachine(t *testing.T) {
	_, err := Listen("192.0.2.1:7001", testClock(), Options{}) // for documentation, RFC 5737
	require.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
	require.EqualError(t, err, "udp: cannot listen at 192.0.2.1:7001, which is no address of this machine")
}

// A batch is as long as a node has peers and messages, and takes as long as it takes.
func TestALongBatchIsSentWhole(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	out := make([]Packet, 1<<14)
	for i := range out {
		out[i] = packetTo(c.LocalAddr(), "x")
	}
	sent, err := c.WriteBatch(out)
	require.NoError(t, err)
	require.Equal(t, len(out), sent)
}

// The error of Windows has another number.
func TestTheErrorOfListenHasItsUsualName(t *testing.T) {
	taken := &listenError{cause: os.NewSyscallError("bind", syscall.Errno(10048))}
	require.ErrorIs(t, taken, syscall.EADDRINUSE)
	require.ErrorIs(t, taken, syscall.Errno(10048))
	require.NotErrorIs(t, taken, syscall.EADDRNOTAVAIL)
}

func TestListenNamesTheAddressThatIsInUse(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	_, err := Listen(c.LocalAddr().String(), testClock(), Options{})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.EqualError(t, err, "udp: another socket already listens at "+c.LocalAddr().String())
	_, err = Listen("127.0.0.1:port", testClock(), Options{})
	require.ErrorContains(t, err, "127.0.0.1:port")
	_, err = Listen("127.0.0.1:0", testClock(), Options{Batch: 100_000})
	require.Error(t, err)
}

func TestFailingPacketsAreCountedAndSkipped(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
	closed, err := Listen("127.0.0.1:0", testClock(), Options{})
	require.NoError(t, err)
	nobody := closed.LocalAddr()
	require.NoError(t, closed.Close())

	oversize := Packet{Buf: make([]byte, 70_000), N: 70_000, Addr: b.LocalAddr()}
	sent, err := a.WriteBatch([]Packet{
		oversize,
		packetTo(b.LocalAddr(), "one"),
		packetTo(nobody, "to a closed port"),
		packetTo(netip.MustParseAddrPort("[2001:db8::1]:9"), "another family"),
		packetTo(netip.AddrPort{}, "no address"),
		oversize,
		packetTo(b.LocalAddr(), "two"),
		oversize,
	})
	require.NoError(t, err)
	require.Equal(t, 3, sent)
	in := room(8)
	for _, want := range []string{"one", "two"} {
		n, err := b.ReadBatch(in[:1], soon())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, want, string(in[0].Buf[:in[0].N]))
	}
	var failed uint64
	for _, c := range a.Stats() {
		if len(c.Name) > 5 && c.Name[:5] == "send_" {
			failed += c.Value
		}
	}
	require.EqualValues(t, 5, failed)

	// The closed port's answer does not end the loop of the sender.
	for range 3 {
		n, err := a.ReadBatch(in, testClock().Now().Add(time.Millisecond))
		require.NoError(t, err)
		require.Zero(t, n)
	}
}

func TestDatagramsLongerThanMaxPacketAreDroppedAndCounted(t *testing.T) {
	for _, apart := range []bool{false, true} { // then the kernel cuts them off
		a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{MaxPacket: 100, NoReceiveOffload: apart})
		long := string(make([]byte, 101))
		_, err := a.WriteBatch([]Packet{
			packetTo(b.LocalAddr(), long),
			packetTo(b.LocalAddr(), "first"),
			packetTo(b.LocalAddr(), long),
			packetTo(b.LocalAddr(), long[:100]),
			packetTo(b.LocalAddr(), ""),
		})
		require.NoError(t, err)
		in := room(8)
		var lengths []int
		for len(lengths) < 3 {
			n, err := b.ReadBatch(in, soon())
			require.NoError(t, err)
			require.NotZero(t, n, "packets are lost")
			for _, p := range in[:n] {
				lengths = append(lengths, p.N)
			}
		}
		require.Equal(t, []int{5, 100, 0}, lengths)
		require.EqualValues(t, 2, b.Stats().Get("received_truncated"))
	}
}

func TestCloseEndsAWait(t *testing.T) {
	c, err := Listen("127.0.0.1:0", testClock(), Options{})
	require.NoError(t, err)
	ended := make(chan error)
	go func() {
		_, err := c.ReadBatch(room(1), timed.Never)
		ended <- err
	}()
	time.Sleep(time.Millisecond)
	require.NoError(t, c.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	_, err = c.ReadBatch(room(1), timed.Never)
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = c.WriteBatch([]Packet{packetTo(c.LocalAddr(), "x")})
	require.ErrorIs(t, err, net.ErrClosed)
	c.Wake()
	require.NoError(t, c.Close())
}
