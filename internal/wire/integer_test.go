package wire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

// byLibrary returns the bytes that the library writes.
func byLibrary(f func(e *msgpack.Encoder) error) []byte {
	var w writer
	w.begin(nil)
	_ = f(w.enc)
	return w.b
}

// edges returns the numbers at which the encoded length changes, and their neighbours.
func edges() (out []uint64) {
	for bits := range 64 {
		v := uint64(1) << bits
		out = append(out, v-1, v, v+1)
	}
	return append(out, math.MaxUint64-1, math.MaxUint64)
}

func TestValuesAreWrittenAsTheLibraryWritesThem(t *testing.T) {
	check := func(t require.TestingT, v uint64) {
		var w writer
		w.begin(nil)
		w.uint(v, 0, math.MaxUint64)
		require.NoError(t, w.err)
		require.Equal(t, byLibrary(func(e *msgpack.Encoder) error { return e.EncodeUint(v) }), w.b, "%d", v)
		for _, n := range []int64{int64(v), -int64(v)} {
			w.begin(nil)
			w.int(n, math.MinInt64, math.MaxInt64)
			require.NoError(t, w.err)
			require.Equal(t, byLibrary(func(e *msgpack.Encoder) error { return e.EncodeInt(n) }), w.b, "%d", n)
		}
		n := int(v % (1 << 17))
		w.begin(nil)
		w.array(n)
		require.Equal(t, byLibrary(func(e *msgpack.Encoder) error { return e.EncodeArrayLen(n) }), w.b, "%d", n)
		w.begin(nil)
		w.bool(v%2 == 1)
		require.Equal(t, byLibrary(func(e *msgpack.Encoder) error { return e.EncodeBool(v%2 == 1) }), w.b)
	}
	for _, v := range edges() {
		check(t, v)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.Uint64().Draw(t, "v")) })
}

// Integers of every width are read, by either path, and a value truncated at any
// byte is an error.
func TestIntegersOfAllWidthsAreRead(t *testing.T) {
	for _, v := range edges() {
		for _, write := range []func(e *msgpack.Encoder) error{
			func(e *msgpack.Encoder) error { return e.EncodeUint(v) },
			func(e *msgpack.Encoder) error { return e.EncodeUint64(v) },
			func(e *msgpack.Encoder) error { return e.EncodeInt64(int64(v)) },
		} {
			b := byLibrary(write)
			signed := b[0] == 0xd3
			var r reader
			r.begin(b)
			got := r.uint(0, math.MaxUint64)
			if err := r.finish(); signed && int64(v) < 0 {
				require.ErrorIs(t, err, ErrRange)
			} else {
				require.NoError(t, err)
				require.Equal(t, v, got)
			}
			r.begin(b)
			n := r.int(math.MinInt64, math.MaxInt64)
			if err := r.finish(); !signed && v > math.MaxInt64 {
				require.ErrorIs(t, err, ErrRange)
			} else {
				require.NoError(t, err)
				require.Equal(t, int64(v), n)
			}
			for cut := range b {
				r.begin(b[:cut])
				require.Zero(t, r.uint(0, math.MaxUint64))
				require.ErrorIs(t, r.finish(), ErrTruncated)
				r.begin(b[:cut])
				require.Zero(t, r.int(math.MinInt64, math.MaxInt64))
				require.ErrorIs(t, r.finish(), ErrTruncated)
			}
		}
	}
}
