package clocksync

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func endsOf(pairs ...[2]Time) (ends []bound) {
	for _, p := range pairs {
		ends = append(ends, bound{p[0], false}, bound{p[1], true})
	}
	return ends
}

func TestHullOfMajorities(t *testing.T) {
	for name, c := range map[string]struct {
		in        [][2]Time
		low, high Time
		ok        bool
	}{
		"one":                    {[][2]Time{{3, 7}}, 3, 7, true},
		"two that meet":          {[][2]Time{{3, 7}, {5, 9}}, 5, 7, true},
		"two that touch":         {[][2]Time{{3, 5}, {5, 9}}, 5, 5, true},
		"two that do not":        {[][2]Time{{3, 4}, {5, 9}}, 0, 0, false},
		"a liar far away":        {[][2]Time{{3, 7}, {5, 9}, {100, 101}}, 5, 7, true},
		"a liar near the truth":  {[][2]Time{{0, 10}, {8, 12}, {9, 20}}, 8, 12, true},
		"two places of majority": {[][2]Time{{0, 2}, {1, 11}, {10, 12}}, 1, 11, true},
		"three that disagree":    {[][2]Time{{0, 1}, {2, 3}, {4, 5}}, 0, 0, false},
		"two of four":            {[][2]Time{{0, 1}, {0, 1}, {4, 5}, {4, 5}}, 0, 0, false},
	} {
		low, high, ok := intersect(endsOf(c.in...))
		require.Equal(t, c.ok, ok, name)
		if ok {
			require.Equal(t, [2]Time{c.low, c.high}, [2]Time{low, high}, name)
		}
	}
}

// While most intervals hold the truth, the hull does, wherever the others lie;
// and it is no wider than the intervals that hold it.
func TestHullHoldsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 15).Draw(t, "n")
		truth := Time(rapid.Int64Range(-1000, 1000).Draw(t, "truth"))
		liars := rapid.IntRange(0, n-Majority(n)).Draw(t, "liars")
		var in [][2]Time
		for i := range n {
			low := Time(rapid.Int64Range(-2000, 2000).Draw(t, "low"))
			high := low + Time(rapid.Int64Range(0, 3000).Draw(t, "wide"))
			if i >= liars {
				low, high = min(low, truth), max(high, truth)
			}
			in = append(in, [2]Time{low, high})
		}
		low, high, ok := intersect(endsOf(rapid.Permutation(in).Draw(t, "order")...))
		require.True(t, ok)
		require.LessOrEqual(t, low, truth)
		require.GreaterOrEqual(t, high, truth)
	})
}
