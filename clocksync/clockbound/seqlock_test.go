package clockbound

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// numbered returns a record whose fields are all functions of its number.
func numbered(k uint64) record {
	ns := int64(k % second)
	return record{asOf: int64(k)*second + ns, voidAfter: int64(k+7)*second + ns, bound: int64(3 * k),
		marker: ^k, maxDrift: uint32(k % 1000003), status: Status(k % 4)}
}

func newSegment() *segment { // aligned as a page is
	words := make([]uint64, segmentSize/8)
	return (*segment)(unsafe.Pointer(&words[0]))
}

func TestLayout(t *testing.T) {
	require.Zero(t, offAsOf%8|offVoid%8|offBound%8|offMarker%8|offMaxDrift%4|offStatus%4)
	s := newSegment()
	want := numbered(12345)
	s.put(&want)
	var got record
	s.get(&got)
	require.Equal(t, want, got)
	version, generation := s.header()
	require.Zero(t, version|generation)
	s.setHeader(2, 0xabcd)
	version, generation = s.header()
	require.Equal(t, []uint16{2, 0xabcd}, []uint16{version, generation})
	require.Equal(t, uint16(2), binary.NativeEndian.Uint16(s[12:]))
	require.Equal(t, uint16(0xabcd), binary.NativeEndian.Uint16(s[14:]))
}

func readersSeeWholeRecords(t testing.TB) {
	s := newSegment()
	first := numbered(1)
	s.write(&first)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for k := uint64(2); !stop.Load(); k++ {
			r := numbered(k)
			s.write(&r)
		}
	})
	defer wg.Wait()
	defer stop.Store(true)
	last := int64(0)
	for range 20_000 {
		var r record
		if err := s.read(&r); err != nil {
			require.ErrorIs(t, err, ErrBusy)
			continue
		}
		require.Equal(t, numbered(uint64(r.asOf/second)), r)
		require.GreaterOrEqual(t, r.asOf, last)
		last = r.asOf
	}
}

func TestReadersSeeWholeRecords(t *testing.T) { readersSeeWholeRecords(t) }

// oddWhileWriting checks that a record with an odd generation is not read, and that
// a write ends with an even one.
func oddWhileWriting(t testing.TB) {
	for _, before := range []uint16{0, 2, 7, 0xfffe, 0xffff} {
		s := newSegment()
		s.setHeader(layoutVersion, before)
		r := numbered(5)
		s.write(&r)
		_, after := s.header()
		require.NotZero(t, after)
		require.Zero(t, after%2)
		require.NotEqual(t, before, after)
	}
	// During a write, readers find no record.
	s := newSegment()
	s.setHeader(layoutVersion, 3)
	require.ErrorIs(t, s.read(&record{}), ErrBusy)
}

func generationSkipsZero(t testing.TB) {
	s := newSegment()
	s.setHeader(layoutVersion, 2)
	r := numbered(1)
	for range 1<<15 + 5 {
		s.write(&r)
		_, generation := s.header()
		require.NotZero(t, generation)
		require.NoError(t, s.read(&r))
	}
}

func TestGenerationIsOddWhileWriting(t *testing.T) { oddWhileWriting(t) }
func TestGenerationSkipsZero(t *testing.T)         { generationSkipsZero(t) }

func TestReadRefusesUnwrittenSegment(t *testing.T) {
	s := newSegment()
	require.ErrorIs(t, s.read(&record{}), ErrNotReady)
	s.setHeader(2, 0)
	require.ErrorIs(t, s.read(&record{}), ErrNotReady)
	s.setHeader(3, 2)
	require.ErrorIs(t, s.read(&record{}), ErrMalformed)
}
