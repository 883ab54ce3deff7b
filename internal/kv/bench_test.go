package kv

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkApply measures puts of 64 bytes in a state of ten thousand keys.
func BenchmarkApply(b *testing.B) {
	for _, kind := range []Kind{Linearizable, Partitionable} {
		b.Run(kind.String(), func(b *testing.B) {
			s := New(kind)
			var commands [][]byte
			for i := range 10_000 {
				c := Command{Op: Put, Dot: Dot{1, 1}, At: at(line(1), time.Hour, time.Millisecond), Key: fmt.Sprint("key", i), Value: []byte(strings.Repeat("v", 64))}
				commands = append(commands, c.Encode())
			}
			b.ReportAllocs()
			i := uint64(0)
			for b.Loop() {
				c, _ := Decode(commands[i%10_000])
				i++
				c.Dot.Number = i
				s.advance(&c)
				s.perform(&c)
				s.seen.add(c.Dot)
			}
		})
	}
}

// BenchmarkHash measures the hash of a state with many keys and leases.
func BenchmarkHash(b *testing.B) {
	s := New(Linearizable)
	for i := range uint64(MaxLeases) {
		s.Apply((&Command{Op: Put, Dot: Dot{1, i + 1}, At: at(line(1), time.Hour, 0), Key: fmt.Sprint("key", i), TTL: time.Hour}).Encode())
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Hash()
	}
}
