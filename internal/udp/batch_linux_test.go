package udp

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

func TestAPacketCountsAsReceivedWhenItCameNotWhenItWasRead(t *testing.T) {
	a := listen(t, "127.0.0.1:0", Options{})
	in := room(4)
	for _, plain := range []bool{false, true} {
		b := listen(t, "127.0.0.1:0", Options{NoKernelStamps: plain})
		// The kernel begins to stamp packets on arrival some time after the
		// request, so the test tries until it does.
		const lag = 5 * time.Millisecond
		used := false
		for range 50 {
			n, err := b.ReadBatch(in, testClock().Now()) // finds the socket empty
			require.NoError(t, err)
			require.Zero(t, n)
			before := testClock().Now()
			_, err = a.WriteBatch([]Packet{packetTo(b.LocalAddr(), "x")})
			require.NoError(t, err)
			time.Sleep(lag)
			reading := testClock().Now()
			n, err = b.ReadBatch(in, soon())
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.GreaterOrEqual(t, in[0].Received, before)
			if plain {
				require.GreaterOrEqual(t, in[0].Received, reading)
			} else if used = in[0].Received < reading; used {
				break
			}
		}
		require.Equal(t, !plain, used, "clock steps seen: %d", b.Stats().Get("clock_steps"))
	}
}

// After a step of its clock, the kernel's stamps say nothing: a packet counts as received when it
// was read. A watch that is closed says that the clock was stepped.
func steppedStampsSayNothing(t testing.TB) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
	watch := b.sock.in.stamps.watch
	if watch == nil {
		t.Skip("the system tells nobody that its clock is stepped")
	}
	require.NoError(t, watch.Close())
	in := room(4)
	for range 50 { // the kernel may begin to stamp packets on arrival some time after the request
		n, err := b.ReadBatch(in, testClock().Now())
		require.NoError(t, err)
		require.Zero(t, n)
		_, err = a.WriteBatch([]Packet{packetTo(b.LocalAddr(), "x")})
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
		reading := testClock().Now()
		n, err = b.ReadBatch(in, soon())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.GreaterOrEqual(t, in[0].Received, reading)
	}
	require.GreaterOrEqual(t, b.Stats().Get("clock_steps"), uint64(50))
}

func TestStampsOfASteppedClockSayNothing(t *testing.T) { steppedStampsSayNothing(t) }

// Packets that wait because others fill a batch count as received when they came, too.
func TestAPacketThatWaitsForABatchCountsAsReceivedWhenItCame(t *testing.T) { batchesAreStamped(t) }

func batchesAreStamped(t testing.TB) {
	const lag = 5 * time.Millisecond
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{Batch: 1, NoReceiveOffload: true})
	in := room(1)
	for range 50 { // until the kernel stamps packets on arrival, and nobody sets the clock
		n, err := b.ReadBatch(in, testClock().Now())
		require.NoError(t, err)
		require.Zero(t, n)
		before := testClock().Now()
		for range 4 {
			_, err = a.WriteBatch([]Packet{packetTo(b.LocalAddr(), "x")})
			require.NoError(t, err)
		}
		time.Sleep(lag)
		reading := testClock().Now()
		early := 0
		for range 4 {
			n, err = b.ReadBatch(in, soon())
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.GreaterOrEqual(t, in[0].Received, before)
			if in[0].Received < reading {
				early++
			}
		}
		if early == 4 {
			return
		}
	}
	require.Fail(t, "packets count as received when they are read", "clock steps seen: %d", b.Stats().Get("clock_steps"))
}

// A full buffer costs messages of the kernel, with one packet or with several.
func TestAFullReceiveBufferIsCounted(t *testing.T) {
	const perMessage = 10
	for _, plain := range []bool{false, true} {
		a := listen(t, "127.0.0.1:0", Options{NoSendOffload: plain})
		b := listen(t, "127.0.0.1:0", Options{ReceiveBuffer: 1})
		out := equals(20*perMessage, 10, b.LocalAddr())
		messages := len(out)
		if !plain {
			messages /= perMessage
			for i := perMessage - 1; i < len(out); i += perMessage {
				out[i].N-- // ends a train
			}
		}
		in := room(len(out))
		read := func() (got int) {
			for {
				n, err := b.ReadBatch(in, 0)
				require.NoError(t, err)
				if n == 0 {
					return got
				}
				got += n
			}
		}
		lost := 0
		for range 2 { // the kernel counts on
			sent, err := a.WriteBatch(out)
			require.NoError(t, err)
			require.Equal(t, len(out), sent, "a full buffer at the other end is not a send error")
			got := read()
			require.Less(t, got, len(out))
			for range 3 { // the first of them carries the count of drops, and all others the same
				_, err = a.WriteBatch(out[:1])
				require.NoError(t, err)
				require.Equal(t, 1, read())
			}
			if !plain {
				require.Zero(t, got%perMessage)
				got /= perMessage
			}
			lost += messages - got
			require.EqualValues(t, lost, b.Stats().Get("received_overflow"))
		}
	}
}

// A network error that the kernel holds for the socket is not a failure of the next
// packet sent, nor of the read that reports it.
func TestReportedErrorsNeitherEndTheLoopNorCostAPacket(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
	nobody, err := Listen("127.0.0.1:0", testClock(), Options{})
	require.NoError(t, err)
	closed := nobody.LocalAddr()
	require.NoError(t, nobody.Close())
	require.NoError(t, a.sock.raw.Control(func(fd uintptr) {
		require.NoError(t, unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVERR, 1))
	}))
	in := room(4)

	sent, err := a.WriteBatch([]Packet{packetTo(closed, "refused"), packetTo(b.LocalAddr(), "one")})
	require.NoError(t, err)
	require.Equal(t, 2, sent)
	n, err := b.ReadBatch(in, soon())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "one", string(in[0].Buf[:in[0].N]))

	_, err = a.WriteBatch([]Packet{packetTo(closed, "refused")})
	require.NoError(t, err)
	n, err = a.ReadBatch(in, testClock().Now().Add(5*time.Millisecond))
	require.NoError(t, err)
	require.Zero(t, n)
	require.Positive(t, a.Stats().Get("receive_econnrefused"))
}

// heldErrorsCostNoPacket has an error that the kernel holds for the socket meet the next packets:
// one, several for several addresses, and some that leave together. All are sent.
func heldErrorsCostNoPacket(t testing.TB) {
	b := listen(t, "127.0.0.1:0", Options{})
	nobody, err := Listen("127.0.0.1:0", testClock(), Options{})
	require.NoError(t, err)
	closed := nobody.LocalAddr()
	require.NoError(t, nobody.Close())
	in := room(8)
	for i := range 24 {
		a := listen(t, "127.0.0.1:0", Options{NoSendOffload: i%2 == 0}) // of its own, or two errors may meet one packet
		require.NoError(t, a.sock.raw.Control(func(fd uintptr) {
			require.NoError(t, unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVERR, 1))
		}))
		_, err := a.WriteBatch([]Packet{packetTo(closed, "refused")})
		require.NoError(t, err)
		var pkts []Packet
		for range 1 + i%3 {
			pkts = append(pkts, packetTo(b.LocalAddr(), "x"))
		}
		sent, err := a.WriteBatch(pkts)
		require.NoError(t, err)
		require.Equal(t, len(pkts), sent, "errors: %d", a.Stats().Get("send_econnrefused"))
		for there := len(pkts); there > 0; {
			n, err := b.ReadBatch(in, soon())
			require.NoError(t, err)
			require.Positive(t, n, "a packet is lost")
			there -= n
		}
	}
}

func TestHeldErrorsCostNoPacket(t *testing.T) { heldErrorsCostNoPacket(t) }

// closedLeavesNothing counts the descriptors of the process before sockets are opened and after
// they are closed.
func closedLeavesNothing(t testing.TB) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector closes files that are forgotten
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(list)
	}
	before := open()
	for range 8 {
		for _, opts := range []Options{{}, {NoKernelStamps: true}, {Quiet: &Quiet{Offset: 1, Mask: 1, OneIn: 1}}} {
			c, err := Listen("127.0.0.1:0", testClock(), opts)
			require.NoError(t, err)
			require.NoError(t, c.Close())
		}
	}
	require.LessOrEqual(t, open(), before)
}

func TestAClosedSocketLeavesNothing(t *testing.T) { closedLeavesNothing(t) }

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
	out := []Packet{packetTo(b.LocalAddr(), "one"), packetTo(b.LocalAddr(), "two")}
	in := room(8)
	require.Zero(t, testing.AllocsPerRun(200, func() {
		_, _ = a.WriteBatch(out)
		for got := 0; got < len(out); {
			n, err := b.ReadBatch(in, soon())
			if n == 0 {
				t.Fatal("no packets", err)
			}
			got += n
		}
	}), "packets")
	require.Zero(t, testing.AllocsPerRun(200, func() {
		_, _ = b.ReadBatch(in, testClock().Now())
	}), "finding nothing")
	require.Zero(t, testing.AllocsPerRun(50, func() {
		_, _ = b.ReadBatch(in, testClock().Now().Add(100*time.Microsecond))
	}), "waiting until a deadline")
	require.Zero(t, testing.AllocsPerRun(200, func() {
		b.Wake()
		_, _ = b.ReadBatch(in, soon())
	}), "a wake")
}

// The portable socket cannot read without waiting: there, wakes and packets take turns.
func TestWakesDelayNoPackets(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	var out []Packet
	for range 8 {
		out = append(out, packetTo(c.LocalAddr(), "x"))
	}
	_, err := c.WriteBatch(out)
	require.NoError(t, err)
	in := room(1)
	packets := 0
	for range 16 {
		c.Wake()
		n, err := c.ReadBatch(in, soon())
		require.NoError(t, err)
		packets += n
	}
	require.Equal(t, 8, packets)
}

// A reader that is woken sees the packets that are there.
func TestAWakeHidesNoPackets(t *testing.T) { wakesHideNothing(t) }

func wakesHideNothing(t testing.TB) {
	c := listen(t, "127.0.0.1:0", Options{})
	in := room(1)
	for range 3 {
		_, err := c.WriteBatch([]Packet{packetTo(c.LocalAddr(), "x")})
		require.NoError(t, err)
		c.Wake()
		n, err := c.ReadBatch(in, timed.Never)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		c.Wake()
		n, err = c.ReadBatch(in, timed.Never)
		require.NoError(t, err)
		require.Zero(t, n)
	}
}

// A wake ends one wait, and not those after it: a reader whose waits all ended at once would
// take a processor for itself.
func TestAWakeEndsOneWait(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	waits := func(d time.Duration) time.Duration {
		began := testClock().Now()
		n, err := c.sock.wait(room(1), began, began.Add(d), &c.signals)
		require.NoError(t, err)
		require.Zero(t, n)
		return testClock().Now().Sub(began)
	}
	c.sock.wake()
	require.Less(t, waits(time.Minute), 30*time.Second)
	require.Greater(t, waits(20*time.Millisecond), 10*time.Millisecond)
}
