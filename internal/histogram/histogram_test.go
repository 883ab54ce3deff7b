package histogram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A duration is in the first bucket whose bound it does not exceed.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(-1e3, 30e9).Draw(t, "d"))
		if rapid.Bool().Draw(t, "at a bound") {
			d = Bound(rapid.IntRange(0, Buckets-1).Draw(t, "bucket")) + time.Duration(rapid.IntRange(-1, 1).Draw(t, "off"))
		}
		want := 0
		for want < Buckets && max(d, 0) > Bound(want) {
			want++
		}
		var h Durations
		h.Note(d)
		require.Equal(t, uint64(1), h.Counts[want], "%v", d)
		require.Equal(t, uint64(1), h.Total())
		require.Equal(t, max(d, 0), h.Sum)
	})
	require.Equal(t, "no durations", Durations{}.String())
	require.Equal(t, "3 durations of 2s on average", Durations{Counts: [Buckets + 1]uint64{1, 2}, Sum: 6 * time.Second}.String())
	require.Equal(t, time.Microsecond, Bound(0))
	require.Greater(t, Bound(Buckets-1), 8*time.Second)
}

func BenchmarkNote(b *testing.B) {
	var h Durations
	for d := time.Duration(0); b.Loop(); d += 1237 {
		h.Note(d)
	}
}
