package udp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// BenchmarkRoundTrip is a packet there and back between two goroutines that
// wait in the poller with a deadline, as drivers do.
func BenchmarkRoundTrip(b *testing.B) {
	ping, pong := listen(b, "127.0.0.1:0", Options{}), listen(b, "127.0.0.1:0", Options{})
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		in := room(8, 1500)
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
	in := room(8, 1500)
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

// BenchmarkBatch sends 64 packets of 1,200 bytes in one call and reads them.
func BenchmarkBatch(b *testing.B) {
	const batch = 64
	from, to := listen(b, "127.0.0.1:0", Options{}), listen(b, "127.0.0.1:0", Options{ReceiveBuffer: 1 << 20})
	out := room(batch, 1200)
	for i := range out {
		out[i].N, out[i].Addr = 1200, to.LocalAddr()
	}
	in := room(batch, 1500)
	b.ReportAllocs()
	b.SetBytes(batch * 1200)
	for b.Loop() {
		sent, err := from.WriteBatch(out)
		if err != nil {
			b.Fatal(err)
		}
		for got := 0; got < sent; {
			n, err := to.ReadBatch(in, timed.Never)
			if err != nil {
				b.Fatal(err)
			}
			got += n
		}
	}
}

// BenchmarkFindNothing is the cost of looking for packets in vain.
func BenchmarkFindNothing(b *testing.B) {
	c := listen(b, "127.0.0.1:0", Options{})
	in := room(8, 1500)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.ReadBatch(in, 0); err != nil {
			b.Fatal(err)
		}
	}
}
