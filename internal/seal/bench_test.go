package seal

import (
	"crypto/cipher"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"
)

var sizes = []int{100, 1200, 60_000}

func BenchmarkSeal(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s, p := NewSealer(ring(b, NewKey())), make([]byte, header+Head+size, header+Overhead+size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for counter := uint64(1); b.Loop(); counter++ {
				s.Seal(p, header, nil, 1, counter, 2)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			o, p, from := opened(b, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := o.Open(p, header, from, 1)
				require.NoError(b, err)
			}
		})
	}
}

// Forged packets of an unknown incarnation need a key of their own.
func BenchmarkForged(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			o, p, from := opened(b, size)
			b.ReportAllocs()
			for b.Loop() {
				from.Boot++
				_, _, _ = o.Open(p, header, from, 1)
			}
		})
	}
}

func opened(b *testing.B, size int) (*Opener, []byte, Origin) {
	k := NewKey()
	from := Origin{Source: 1, Boot: 1, Key: k.ID()}
	p := NewSealer(ring(b, k)).Seal(make([]byte, header+Head+size, header+Overhead+size), header, nil, 1, 1, 2)
	o := NewOpener(ring(b, k))
	_, _, err := o.Open(p, header, from, 1)
	require.NoError(b, err)
	o.Keep(0)
	return o, p, from
}

// The alternative with a nonce of the same size.
func BenchmarkXChaCha20Poly1305(b *testing.B) {
	for _, size := range sizes {
		a, err := chacha20poly1305.NewX(make([]byte, KeySize))
		require.NoError(b, err)
		nonce, plain := make([]byte, chacha20poly1305.NonceSizeX), make([]byte, size)
		sealed := a.Seal(nil, nonce, plain, make([]byte, header))
		b.Run(fmt.Sprintf("seal/%d", size), func(b *testing.B) { sealWith(b, a, nonce, plain) })
		b.Run(fmt.Sprintf("open/%d", size), func(b *testing.B) {
			out, more := make([]byte, 0, size+tagSize), make([]byte, header)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				_, err := a.Open(out, nonce, sealed, more)
				require.NoError(b, err)
			}
		})
	}
}

func sealWith(b *testing.B, a cipher.AEAD, nonce, plain []byte) {
	out, more := make([]byte, 0, len(plain)+tagSize), make([]byte, header)
	b.SetBytes(int64(len(plain)))
	b.ReportAllocs()
	for b.Loop() {
		a.Seal(out, nonce, plain, more)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	k := NewKey()
	s, o := NewSealer(ring(t, k)), NewOpener(ring(t, k))
	from := Origin{Source: 1, Boot: 1, Key: k.ID()}
	p, counter := packet(string(make([]byte, 1200))), uint64(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		counter++
		sealed := s.Seal(p, header, nil, 1, counter, counter)
		_, _, err := o.Open(sealed, header, from, counter)
		if err != nil {
			panic(err)
		}
		o.Keep(0)
	}))
}
