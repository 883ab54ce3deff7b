package broadcast

import (
	"fmt"
	"testing"
)

// BenchmarkThree measures the cost of one message for three directly wired machines
// together: sending it, ordering it, and delivering it three times. Packets have the
// size of loopback's.
func BenchmarkThree(b *testing.B) {
	for _, opt := range []Options{{TotalOrder, WeakAtomicity}, {TotalOrder, StrictAtomicity}, {Unordered, WeakAtomicity}, {TimedOrder, WeakAtomicity}} {
		for _, size := range []int{64, 1024, 16384} {
			for _, senders := range []int{1, 3} {
				b.Run(fmt.Sprintf("%v-%v/%dB/senders%d", opt.Order, opt.Atomicity, size, senders), func(b *testing.B) {
					benchThree(b, opt, size, senders)
				})
			}
		}
	}
}

func benchThree(b *testing.B, opt Options, size, senders int) {
	t := newTrio(3, Config{PacketBytes: 16 << 10, Window: 16 << 20})
	payload := make([]byte, size)
	batch := max(1, 16384/size)
	turn := func(n int) {
		for i := range senders {
			for range n {
				if _, err := t.cast(i, payload, opt); err != nil {
					return // the next turns make room
				}
			}
		}
		t.now += 1000
		t.turn()
	}
	for range 2000 { // let the rings grow
		turn(batch)
	}
	start := t.count[0]
	b.ReportAllocs()
	b.SetBytes(int64(size))
	b.ResetTimer()
	for t.count[0]-start < b.N {
		turn(batch)
	}
}

// BenchmarkBroadcast measures the cost of taking one message at its sender.
func BenchmarkBroadcast(b *testing.B) {
	for _, size := range []int{64, 1024, 16384} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			t := newTrio(1, Config{PacketBytes: 16 << 10, Window: 16 << 20})
			payload := make([]byte, size)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for i := range b.N {
				if _, err := t.cast(0, payload, Options{TotalOrder, WeakAtomicity}); err != nil {
					b.Fatal(err)
				}
				if i%64 == 63 {
					t.turn()
				}
			}
		})
	}
}
