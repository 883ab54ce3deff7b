package udp

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// BenchmarkRoundTrip measures a packet there and back between two goroutines that wait
// in the poller with a deadline, like drivers.
func BenchmarkRoundTrip(b *testing.B) {
	ping, pong := listen(b, "127.0.0.1:0", Options{}), listen(b, "127.0.0.1:0", Options{})
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		in := room(8)
		for {
			n, err := pong.ReadBatch(in, testClock().Now().Add(25*time.Millisecond))
			if err != nil {
				return
			}
			for i := range in[:n] {
				if in[i].N == 0 {
					return
				}
			}
			if _, err := pong.WriteBatch(in[:n]); err != nil {
				return
			}
		}
	}()
	out := []Packet{{Buf: make([]byte, 1200), N: 1200, Addr: pong.LocalAddr()}}
	in := room(8)
	b.ReportAllocs()
	for b.Loop() {
		_, err := ping.WriteBatch(out)
		if err != nil {
			b.Fatal(err)
		}
		for n := 0; n == 0; {
			if n, err = ping.ReadBatch(in, testClock().Now().Add(25*time.Millisecond)); err != nil {
				b.Fatal(err)
			}
		}
	}
	out[0].N = 0
	_, err := ping.WriteBatch(out)
	require.NoError(b, err)
	<-stop
}

// BenchmarkBatch sends 64 packets in one call and reads them in the same goroutine, so
// that it measures the cost of both ends together.
func BenchmarkBatch(b *testing.B) {
	const batch = 64
	for _, size := range []int{64, 200, 1024, 1400, 8192, 16384} {
		for _, plain := range []bool{false, true} {
			name := fmt.Sprintf("%d/offload", size)
			if plain {
				name = fmt.Sprintf("%d/plain", size)
			}
			b.Run(name, func(b *testing.B) {
				opts := Options{ReceiveBuffer: 4 << 20, SendBuffer: 4 << 20, NoSendOffload: plain, NoReceiveOffload: plain}
				from, to := listen(b, "127.0.0.1:0", opts), listen(b, "127.0.0.1:0", opts)
				out := equals(batch, size, to.LocalAddr())
				in := room(batch)
				b.ReportAllocs()
				b.SetBytes(int64(batch * size))
				for b.Loop() {
					sent, err := from.WriteBatch(out)
					if err != nil || sent != batch {
						b.Fatal(sent, err)
					}
					for got := 0; got < sent; {
						n, err := to.ReadBatch(in, timed.Never)
						if err != nil {
							b.Fatal(err)
						}
						got += n
					}
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/batch, "ns/packet")
			})
		}
	}
}

// BenchmarkFindNothing measures looking for packets when there are none.
func BenchmarkFindNothing(b *testing.B) {
	c := listen(b, "127.0.0.1:0", Options{})
	in := room(8)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.ReadBatch(in, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFanOut sends a packet of 200 bytes to each of seven sockets, and reads them:
// the traffic of a small group, in which no packets can be sent together.
func BenchmarkFanOut(b *testing.B) {
	from := listen(b, "127.0.0.1:0", Options{})
	in := room(64)
	var ends []*Conn
	var out []Packet
	for range 7 {
		c := listen(b, "127.0.0.1:0", Options{})
		ends = append(ends, c)
		out = append(out, Packet{Buf: make([]byte, 200), N: 200, Addr: c.LocalAddr()})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := from.WriteBatch(out); err != nil {
			b.Fatal(err)
		}
		for _, c := range ends {
			if n, err := c.ReadBatch(in, timed.Never); err != nil || n != 1 {
				b.Fatal(n, err)
			}
		}
	}
}
