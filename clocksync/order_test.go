package clocksync

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	r.Deviation = UnknownBound
	require.False(t, r.After(math.MinInt64+1), "nothing is known")
	require.False(t, r.Before(math.MaxInt64))
	r.Time, r.Deviation = math.MaxInt64-5, 10
	require.Equal(t, Time(math.MaxInt64), r.Latest(), "no overflow")
}

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
