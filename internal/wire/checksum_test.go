package wire

import (
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The checksum of nothing is in the reference implementation's documentation.
func TestTheChecksumIsXXH3(t *testing.T) {
	require.Equal(t, uint64(0x2d06800538d394c2), TailSum(nil))
}

func TestFinishMakesThePacketReadable(t *testing.T) {
	var e Encoder
	var d Decoder
	p, got := renewalPacket(), Packet{}
	b, err := e.AppendBefore(nil, &p, nil)
	require.NoError(t, err)
	require.ErrorIs(t, d.Decode(b, &got), ErrChecksum, "not finished")
	FinishWhole(b, 77, 88)
	require.NoError(t, d.Decode(b, &got))
	p.Header.Stamp, p.Header.Counter = 77, 88
	require.Equal(t, p, got)
	require.Panics(t, func() { FinishWhole(b[:HeaderSize+checksumSize-1], 1, 1) })
}

func TestDamagedPacketsAreRefused(t *testing.T) { damageIsSeen(t) }

// damageIsSeen flips each bit of a packet. It cuts and extends the packet too.
func damageIsSeen(t testing.TB) {
	var e Encoder
	var d Decoder
	var got Packet
	p := commitPacket(20, fromOwnViews)
	whole, err := e.Append(nil, &p)
	require.NoError(t, err)
	refused := func(b []byte, what string, at int) {
		if err := d.Decode(b, &got); err == nil {
			require.Fail(t, "a damaged packet is accepted", "%s at bit %d", what, at)
		}
	}
	for bit := range 8 * len(whole) {
		whole[bit/8] ^= 1 << (bit % 8)
		refused(whole, "one bit", bit)
		whole[bit/8] ^= 1 << (bit % 8)
	}
	for n := range whole {
		refused(whole[:n], "cut", 8*n)
	}
	refused(append(whole, 0), "longer", 8*len(whole))
	require.NoError(t, d.Decode(whole, &got))
}

func TestSeveralDamagedBitsAreSeen(t *testing.T) {
	var e Encoder
	p := commitPacket(20, fromOwnViews)
	whole, err := e.Append(nil, &p)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		b := append([]byte(nil), whole...)
		if rapid.Bool().Draw(t, "burst") {
			at := rapid.IntRange(0, len(b)-4).Draw(t, "at")
			for i, x := range rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "burst of bits") {
				b[at+i] ^= x
			}
		} else {
			bits := rapid.SliceOfNDistinct(rapid.IntRange(0, 8*len(b)-1), 1, 3, rapid.ID[int]).Draw(t, "bits")
			for _, bit := range bits {
				b[bit/8] ^= 1 << (bit % 8)
			}
		}
		if string(b) == string(whole) {
			return
		}
		var got Packet
		require.Error(t, new(Decoder).Decode(b, &got))
		require.Equal(t, Packet{}, got)
	})
}

// tailsHaveTheirPlace has packets say of each length that it is their tail's, with the sum that fits.
// A tail begins behind its length.
func tailsHaveTheirPlace(t testing.TB) {
	var e Encoder
	p := renewalPacket()
	b, err := e.Append(nil, &p)
	require.NoError(t, err)
	for n := range len(b) - HeaderSize - sumSize + 1 {
		binary.BigEndian.PutUint16(b[HeaderSize+sumSize:], uint16(n))
		at := len(b) - n
		putChecksum(b[:at], TailSum(b[at:]))
		_, err := Unsealed(b)
		require.Equal(t, at >= HeaderSize+checksumSize, err == nil, "a tail of %d bytes", n)
	}
	for _, n := range []int{len(b) - HeaderSize - checksumSize + 1, len(b), 1<<16 - 1} {
		binary.BigEndian.PutUint16(b[HeaderSize+sumSize:], uint16(n))
		putChecksum(b, TailSum(nil))
		_, err := Unsealed(b)
		require.ErrorIs(t, err, ErrChecksum, "with the sum of a packet without a tail")
	}
}

func TestATailBeginsBehindItsLength(t *testing.T) { tailsHaveTheirPlace(t) }

func BenchmarkChecksum(b *testing.B) {
	for _, size := range []int{110, 1200, 65_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			packet := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := Unsealed(packet); err == nil {
					b.Fatal("a packet of zeros has the right checksum")
				}
			}
		})
	}
}
