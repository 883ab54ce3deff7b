package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

func TestSummary(t *testing.T) {
	var samples []time.Duration
	for i := range 1000 {
		samples = append(samples, time.Duration(1000-i))
	}
	require.Equal(t, Summary{Count: 1000, Min: 1, Mean: 500, P50: 500, P99: 990, P999: 999, Max: 1000}, Summarize(samples))
	require.Equal(t, Summary{Count: 1, Min: 7, Mean: 7, P50: 7, P99: 7, P999: 7, Max: 7}, Summarize([]time.Duration{7}))
	require.Zero(t, Summarize(nil))
}

// told returns a timeline of two nodes from the instants at which each became fresh or
// stale.
func told(states ...timedState) *timeline {
	return &timeline{ids: timed.SetOf(1, 2), states: states}
}

func fresh(id timed.NodeID, at timed.Instant, is bool) timedState {
	return timedState{id, state{At: at, Fresh: is, Members: timed.SetOf(1, 2)}}
}

func TestTimelineFirst(t *testing.T) {
	line := told(fresh(1, 10, true), fresh(2, 20, true), fresh(2, 30, false), fresh(2, 50, true))
	at, ok := line.first(0, line.fresh)
	require.True(t, ok)
	require.Equal(t, timed.Instant(20), at)
	at, _ = line.first(25, line.fresh)
	require.Equal(t, timed.Instant(25), at, "it holds already")
	at, _ = line.first(35, line.fresh)
	require.Equal(t, timed.Instant(50), at)
	_, ok = told(fresh(1, 10, true)).first(0, line.fresh)
	require.False(t, ok)
}

func TestTimelineTotals(t *testing.T) {
	line := told(fresh(1, 10, true), fresh(2, 20, true), fresh(2, 30, false), fresh(1, 35, false), fresh(1, 40, true), fresh(2, 50, true))
	require.Equal(t, time.Duration(20), line.longestStale(22, 60))
	require.Equal(t, time.Duration(5), line.longestStale(22, 35))
	require.Equal(t, time.Duration(15), line.longestStale(35, 60), "earlier stale time counts from the start")
	require.Zero(t, line.longestStale(22, 30))
}

func TestTruthLiesBetweenTheLeadersSamples(t *testing.T) {
	at := func(h timed.Instant, shown clocksync.Time) sample {
		return sample{Before: h, After: h + 10, Time: shown, Leads: true}
	}
	known := newTruth([]sample{at(0, 1000), at(1_000_000, 1_001_000), {Before: 1_500_000}, at(2_000_000, 2_001_000)})
	low, high, ok := known.bounds(&sample{Before: 500_000, After: 500_020})
	require.True(t, ok)
	require.LessOrEqual(t, low, clocksync.Time(501_000))
	require.GreaterOrEqual(t, high, clocksync.Time(501_000))
	require.Less(t, high.Sub(low), 1100*time.Nanosecond)
	_, _, ok = known.bounds(&sample{Before: 3_000_000, After: 3_000_010})
	require.False(t, ok, "nothing is known beyond the last sample")
	_, _, ok = known.bounds(&sample{Before: 500_000, After: 500_020, Timeline: clocksync.TimelineID{Leader: 2}})
	require.False(t, ok, "another timeline")
}

func TestSummariesTravelToTheNanosecond(t *testing.T) {
	want := Summarize([]time.Duration{1, 146, 1234567, 98765432101, 7})
	b, err := json.Marshal(want)
	require.NoError(t, err)
	var got Summary
	require.NoError(t, json.Unmarshal(b, &got))
	require.Equal(t, want, got)
}
