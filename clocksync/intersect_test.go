package clocksync

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
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
		"one":                          {[][2]Time{{3, 7}}, 3, 7, true},
		"two that meet":                {[][2]Time{{3, 7}, {5, 9}}, 5, 7, true},
		"two that touch":               {[][2]Time{{3, 5}, {5, 9}}, 5, 5, true},
		"two that do not":              {[][2]Time{{3, 4}, {5, 9}}, 0, 0, false},
		"a falseticker far away":       {[][2]Time{{3, 7}, {5, 9}, {100, 101}}, 5, 7, true},
		"a falseticker near the truth": {[][2]Time{{0, 10}, {8, 12}, {9, 20}}, 8, 12, true},
		"two places of majority":       {[][2]Time{{0, 2}, {1, 11}, {10, 12}}, 1, 11, true},
		"three that disagree":          {[][2]Time{{0, 1}, {2, 3}, {4, 5}}, 0, 0, false},
		"two of four":                  {[][2]Time{{0, 1}, {0, 1}, {4, 5}, {4, 5}}, 0, 0, false},
	} {
		low, high, ok := intersect(endsOf(c.in...), majority(len(c.in)))
		require.Equal(t, c.ok, ok, name)
		if ok {
			require.Equal(t, [2]Time{c.low, c.high}, [2]Time{low, high}, name)
		}
	}
}

// An interval contains UTC at any instant and by any other clock.
func TestIntervalsHoldUTCAtOtherTimesAndClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(rapid.Just(int64(-99_990)), rapid.Just(int64(99_990)), rapid.Int64Range(-99_990, 99_990))
		a := testClock{start, rate.Draw(t, "rate")}
		b := testClock{timed.Instant(rapid.Int64Range(1e9, 1<<50).Draw(t, "offset")), rate.Draw(t, "other rate")}
		instant := rapid.Int64Range(0, 100e9)
		said, told, read := instant.Draw(t, "said"), instant.Draw(t, "told"), instant.Draw(t, "read")
		utc := func(t int64) Time { return wall + Time(t) }
		wide := rapid.Int64Range(0, 1e6)
		i := interval{a.at(said), utc(said) - Time(wide.Draw(t, "below")), utc(said) + Time(wide.Draw(t, "above"))}
		holds := func(i interval, at int64) {
			require.LessOrEqual(t, i.low, utc(at)+2)
			require.GreaterOrEqual(t, i.high, utc(at)-2)
		}
		rho := timed.LAN().MaxDrift
		holds(i.project(a.at(told), rho), told)
		early, late := a.at(told)-timed.Instant(wide.Draw(t, "early")), a.at(told)+timed.Instant(wide.Draw(t, "late"))
		j := i.mapped(b.at(told), early, late, rho)
		holds(j, told)
		holds(j.project(b.at(read), rho), read)
	})
}

// While most intervals contain the truth, so does the hull, wherever the others lie.
// The hull is no wider than the intervals that contain the truth.
func TestHullHoldsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 15).Draw(t, "n")
		truth := Time(rapid.Int64Range(-1000, 1000).Draw(t, "truth"))
		wrong := rapid.IntRange(0, n-majority(n)).Draw(t, "wrong")
		var in [][2]Time
		for i := range n {
			low := Time(rapid.Int64Range(-2000, 2000).Draw(t, "low"))
			high := low + Time(rapid.Int64Range(0, 3000).Draw(t, "wide"))
			if i >= wrong {
				low, high = min(low, truth), max(high, truth)
			}
			in = append(in, [2]Time{low, high})
		}
		low, high, ok := intersect(endsOf(rapid.Permutation(in).Draw(t, "order")...), majority(n))
		require.True(t, ok)
		require.LessOrEqual(t, low, truth)
		require.GreaterOrEqual(t, high, truth)
	})
}
