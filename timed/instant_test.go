package timed

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawInt64 prefers the ends of the range, where sums overflow.
var drawInt64 = rapid.Custom(func(t *rapid.T) int64 {
	n := rapid.Int64().Draw(t, "n")
	switch rapid.IntRange(0, 3).Draw(t, "near") {
	case 0:
		return math.MaxInt64 - n&0xff
	case 1:
		return math.MinInt64 + n&0xff
	case 2:
		return n >> 24
	}
	return n
})

func TestAddSaturates(t *testing.T) {
	require.Equal(t, Never, Never.Add(1))
	require.Equal(t, Never, Never.Add(math.MaxInt64))
	require.Equal(t, Never, Instant(1).Add(math.MaxInt64))
	require.Equal(t, Instant(math.MinInt64), Instant(-2).Add(math.MinInt64))
	rapid.Check(t, func(t *rapid.T) {
		a, d := drawInt64.Draw(t, "instant"), drawInt64.Draw(t, "duration")
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(d))
		got := Instant(a).Add(time.Duration(d))
		switch {
		case want.IsInt64():
			require.Equal(t, want.Int64(), int64(got))
			require.Equal(t, time.Duration(d), got.Sub(Instant(a)), "Sub undoes Add")
		case want.Sign() > 0:
			require.Equal(t, Never, got)
		default:
			require.Equal(t, Instant(math.MinInt64), got)
		}
	})
}

func TestInstantOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := Instant(drawInt64.Draw(t, "a")), Instant(drawInt64.Draw(t, "b"))
		require.Equal(t, a < b, a.Before(b))
		require.Equal(t, min(a, b), Earlier(a, b))
		require.Equal(t, max(a, b), Later(a, b))
	})
}
