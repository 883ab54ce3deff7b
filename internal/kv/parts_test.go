package kv

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// An index is a sorted map, also when its blocks split and empty.
func TestIndexIsASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index[int, int]
		want := map[int]int{}
		for range rapid.IntRange(0, 40).Draw(t, "rounds") {
			from := rapid.IntRange(0, 3000).Draw(t, "from")
			n := rapid.IntRange(1, 700).Draw(t, "count")
			remove := rapid.Bool().Draw(t, "remove")
			for k := from; k < from+n; k++ {
				if remove {
					x.remove(k)
					delete(want, k)
				} else {
					x.set(k, n)
					want[k] = n
				}
			}
		}
		keys := slices.Sorted(maps.Keys(want))
		require.Equal(t, len(keys), x.n)
		at := 0
		for k, v := range x.all() {
			require.Equal(t, keys[at], k)
			require.Equal(t, want[k], v)
			at++
		}
		require.Equal(t, len(keys), at)
		start := rapid.IntRange(-1, 4000).Draw(t, "start")
		_, found := x.get(start)
		_, wanted := want[start]
		require.Equal(t, wanted, found)
		next, _ := slices.BinarySearch(keys, start)
		for k := range x.from(start) {
			require.Equal(t, keys[next], k)
			next++
		}
		require.Equal(t, len(keys), next)
		for _, b := range x.blocks {
			require.True(t, len(b) > 0 && len(b) <= blockItems)
		}
	})
}

// The dots that a set has are those that were added.
func TestDotsAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets, want := make([]dots, 2), []map[Dot]bool{{}, {}}
		for range rapid.IntRange(0, 200).Draw(t, "adds") {
			i := rapid.IntRange(0, 1).Draw(t, "set")
			d := Dot{rapid.Uint64Range(1, 3).Draw(t, "writer"), rapid.Uint64Range(1, 30).Draw(t, "number")}
			sets[i].add(d)
			want[i][d] = true
		}
		sets[0].join(&sets[1])
		maps.Copy(want[0], want[1])
		for w := range uint64(5) {
			for n := range uint64(33) {
				d := Dot{w, n}
				require.Equal(t, want[0][d], sets[0].has(d), d)
				require.Equal(t, want[1][d], sets[1].has(d), d)
			}
		}
		for _, k := range sets[0].writers.all() {
			for i := 1; i < len(k.spans); i++ {
				require.Greater(t, k.spans[i].first, k.spans[i-1].last+1, "spans that touch are one")
			}
		}
	})
}

// A set of dots is bounded. It forgets writers, but nothing of those that it knows.
func TestDotsAreBounded(t *testing.T) { dotsAreBounded(t) }

func dotsAreBounded(t testing.TB) {
	var s dots
	for w := range uint64(maxWriters) {
		s.add(Dot{w + 1, 1})
	}
	s.add(Dot{2, 2})
	for w := range uint64(10) {
		s.add(Dot{maxWriters + w + 1, 1})
	}
	require.Equal(t, maxWriters, s.writers.n)
	require.False(t, s.has(Dot{1, 1}), "the writer that was silent for longest is forgotten")
	require.True(t, s.has(Dot{2, 1}), "this one was not silent")
	require.False(t, s.has(Dot{11, 1}))
	require.True(t, s.has(Dot{12, 1}))
	k, _ := s.writers.get(20)
	k.spans = nil
	for n := range uint64(maxSpans + 10) {
		s.add(Dot{20, 2 * (n + 1)})
	}
	require.Len(t, k.spans, maxSpans)
	for n := range uint64(maxSpans + 10) {
		require.True(t, s.has(Dot{20, 2 * (n + 1)}))
		require.Equal(t, 0 < n && n <= 10, s.has(Dot{20, 2*n + 1}), "the lowest gaps are closed")
	}
}

func TestTextsParse(t *testing.T) {
	for _, d := range []Dot{{1, 2}, {1<<64 - 1, 1<<64 - 1}, {}} {
		got, err := ParseDot(d.String())
		require.NoError(t, err)
		require.Equal(t, d, got)
	}
	for _, v := range []Version{{}, {17, 0}, {17, 1}, {1<<64 - 1, 1<<32 - 1}} {
		got, err := ParseVersion(v.String())
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
	for _, p := range []Place{{}, {17, 3}} {
		got, err := ParsePlace(p.String())
		require.NoError(t, err)
		require.Equal(t, p, got)
	}
	got, err := ParsePlace("17")
	require.NoError(t, err)
	require.Equal(t, Place{Revision: 17}, got)
	for _, bad := range []string{"", "x", "1.2", "00000000000000001.2", "0000000000000001.2x", "0000000000000001.2 3", "-1"} {
		_, err := ParseDot(bad)
		require.Error(t, err, bad)
	}
	for _, bad := range []string{"", "x", "017", "17.", "17.1", "17.00000000", "-1"} {
		_, err := ParseVersion(bad)
		require.Error(t, err, bad)
	}
	for _, bad := range []string{"", "x", "-", "17-", "17-x"} {
		_, err := ParsePlace(bad)
		require.Error(t, err, bad)
	}
}
