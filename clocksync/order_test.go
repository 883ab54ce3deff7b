package clocksync

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var lines = [2]TimelineID{{Leader: 1, Boot: 1, Sequence: 1}, {Leader: 2, Boot: 2, Sequence: 1}}

func reading(at Time, deviation time.Duration, line int) Reading {
	return Reading{Time: at, Deviation: deviation, UTCBound: UnknownBound, Status: Internal, Timeline: lines[line]}
}

func TestEarliestAndLatest(t *testing.T) {
	r := reading(1000, 10, 0)
	require.Equal(t, [2]Time{990, 1010}, [2]Time{r.Earliest(), r.Latest()})
	require.True(t, r.After(989))
	require.False(t, r.After(990))
	require.True(t, r.Before(1011))
	require.False(t, r.Before(1010))
	exact := reading(1000, 0, 0)
	require.Equal(t, [2]Time{1000, 1000}, [2]Time{exact.Earliest(), exact.Latest()})
	r.Deviation = UnknownBound
	require.False(t, r.After(math.MinInt64+1), "nothing is known")
	require.False(t, r.Before(math.MaxInt64))
}

// The ends of a reading's interval are exact, or nothing is known of them, however large the
// numbers are.
func boundsDoNotOverflow(t testing.TB) {
	// Random numbers are seldom large enough.
	extreme := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 / 2, -1, 0, 1, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}
	rapid.Check(t, func(t *rapid.T) {
		boundsHold(t, rapid.Int64().Draw(t, "time"), rapid.Int64Min(0).Draw(t, "deviation"))
	})
	for _, at := range extreme {
		for _, deviation := range extreme[4:] {
			boundsHold(t, at, deviation)
		}
	}
}

func boundsHold(t require.TestingT, at, deviation int64) {
	r := reading(Time(at), time.Duration(deviation), 0)
	end := func(sign int64) Time {
		d := new(big.Int).Mul(big.NewInt(sign), big.NewInt(int64(r.Deviation)))
		if u := d.Add(d, big.NewInt(int64(r.Time))); u.IsInt64() && r.Deviation != UnknownBound {
			return Time(u.Int64())
		}
		return Time(sign * math.MaxInt64)
	}
	require.Equal(t, [2]Time{end(-1), end(1)}, [2]Time{r.Earliest(), r.Latest()})
}

func TestBoundsDoNotOverflow(t *testing.T) { boundsDoNotOverflow(t) }

func TestOrder(t *testing.T) {
	early, late, between := reading(1000, 10, 0), reading(1030, 10, 0), reading(1015, 10, 0)
	for _, c := range []struct {
		a, b Reading
		want Ordering
	}{{early, late, Earlier}, {late, early, Later}, {early, between, Unordered}, {between, late, Unordered}, {early, early, Unordered}} {
		got, err := Order(c.a, c.b)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	other := reading(5000, 10, 1)
	got, err := Order(early, other)
	require.ErrorIs(t, err, ErrTimelineChanged)
	require.Equal(t, Unordered, got)
	early.Status, early.UTCBound = External, 100
	other.Status, other.UTCBound = External, 100
	got, err = Order(early, other)
	require.NoError(t, err)
	require.Equal(t, Earlier, got, "UTC is common to all timelines")
	other.UTCBound = 4000
	got, err = Order(early, other)
	require.NoError(t, err)
	require.Equal(t, Unordered, got)
	_, err = Order(Reading{}, Reading{})
	require.ErrorIs(t, err, ErrTimelineChanged, "no timeline at all")
}

// Readings come in the order in which they were taken, or in none, however far their
// timelines are from each other and from UTC. The order of two readings does not depend on
// which is named first.
func ordersHold(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		shift := [2]Time{Time(rapid.Int64Range(-2000, 2000).Draw(t, "shift")), Time(rapid.Int64Range(-2000, 2000).Draw(t, "other shift"))}
		draw := func(name string) (r Reading, at Time) {
			small := rapid.Int64Range(0, 300)
			at = Time(rapid.Int64Range(0, 1000).Draw(t, name)) // UTC
			line := rapid.IntRange(0, 1).Draw(t, "line")
			group := at + shift[line]
			r = reading(group+Time(small.Draw(t, "off")), 0, line)
			r.Deviation = r.Time.Sub(group).Abs() + time.Duration(small.Draw(t, "more"))
			r.UTCBound = r.Time.Sub(at).Abs() + time.Duration(small.Draw(t, "more"))
			r.Status = rapid.SampledFrom([]Status{Internal, External}).Draw(t, "status")
			return r, at
		}
		a, atA := draw("first")
		b, atB := draw("second")
		got, err := Order(a, b)
		back, errBack := Order(b, a)
		require.Equal(t, err, errBack)
		require.Equal(t, map[Ordering]Ordering{Unordered: Unordered, Earlier: Later, Later: Earlier}[got], back)
		switch got {
		case Earlier:
			require.Less(t, atA, atB)
		case Later:
			require.Greater(t, atA, atB)
		}
	})
}

func TestReadingsComeInTheOrderInWhichTheyWereTaken(t *testing.T) { ordersHold(t) }

// A bound is shown with four digits or more, and never less than it is.
func TestShownBoundsRoundUp(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{9_999: 9_999, 10_000: 10_000, 10_001: 10_010, 99_999: 100_000, 123_456: 123_500,
		UnknownBound: UnknownBound} {
		require.Equal(t, want, roundUp(d))
	}
}

// A line of any rate is exact, however long it runs.
func linesDoNotOverflow(t testing.TB) {
	for _, ppb := range []int64{1<<20 - 1, -1 << 20, 1 << 20, MaxSlewLimit, -MaxSlewLimit, 1 << 30} {
		for bits := 43; bits <= 50; bits++ {
			for _, d := range []time.Duration{1<<bits - 1, 1 << bits} {
				want := float64(d) * (1 + float64(ppb)/1e9)
				require.InDelta(t, want, float64(advance(d, ppb)), 4, "%v at %d", d, ppb)
			}
		}
	}
}

func TestAdvanceDoesNotOverflow(t *testing.T) { linesDoNotOverflow(t) }
