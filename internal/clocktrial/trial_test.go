package clocktrial

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// What docs/internals/clocks.md says of the trials. chrony's own tests of the same kind allow 300 µs
// in the mean and two to three and a half minutes until the clock is right.
func TestTrials(t *testing.T) {
	for _, trial := range All() {
		t.Run(trial.Name, func(t *testing.T) {
			t.Parallel()
			trial.Length = min(trial.Length, 35*time.Minute)
			r, err := trial.Run(t.Context(), 1, nil)
			require.NoError(t, err)
			require.True(t, r.Contained(), "%+v", r)
			require.True(t, r.Monotone)
			require.Equal(t, int(trial.Length/time.Second)*nodes, r.Samples)
			require.Greater(t, r.Bounded, r.Samples*9/10)
			switch trial.Name {
			case "lossy-group", "packet-loss", "temperature":
				return // good bounds are all that is asked for
			}
			require.LessOrEqual(t, r.RMSNS, int64(100*us))
			require.NotNil(t, r.Within1msNS)
			require.LessOrEqual(t, *r.Within1msNS, int64(time.Minute))
			require.NotNil(t, r.Within100usNS)
			require.LessOrEqual(t, *r.Within100usNS, int64(5*time.Minute))
		})
	}
}

// Without a reference the bound goes on and grows, and the flag drops by itself.
func TestHoldoverLosesExternal(t *testing.T) {
	trial, err := Find("holdover")
	require.NoError(t, err)
	trial.Length = 40 * time.Minute
	at := map[time.Duration]Sample{}
	_, err = trial.Run(t.Context(), 1, func(s *Sample) {
		if s.Node == 2 {
			at[s.At] = *s
		}
	})
	require.NoError(t, err)
	require.Equal(t, clocksync.External, at[14*time.Minute].Status)
	late := at[29*time.Minute]
	require.Equal(t, clocksync.Internal, late.Status)
	require.NotEqual(t, clocksync.UnknownBound, late.UTCBound)
	require.Less(t, late.Error.Abs(), 200*us, "it goes on at the rate that it had")
	require.Equal(t, clocksync.External, at[39*time.Minute].Status)
}

func TestTrialsEndEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	trial, err := Find("default")
	require.NoError(t, err)
	_, err = trial.Run(ctx, 1, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Find("x")
	require.ErrorContains(t, err, `"x"`)
}

// What is measured is counted as it is said to be.
func TestResultsCount(t *testing.T) {
	r := Result{}
	r.add(&Sample{At: time.Second, Error: 7, Reading: clocksync.Reading{UTCBound: 2, Deviation: clocksync.UnknownBound}})
	r.add(&Sample{At: time.Hour, Error: -3, Reading: clocksync.Reading{UTCBound: 3, Deviation: 1}})
	r.add(&Sample{At: time.Hour, Error: -4, Reading: clocksync.Reading{UTCBound: clocksync.UnknownBound, Deviation: 1}})
	require.Equal(t, []int{3, 2, 1, 2}, []int{r.Samples, r.Bounded, r.Outside, r.Timely})
	require.False(t, r.Contained())
	require.InDelta(t, 25, r.squares, 1e-9)
	require.Equal(t, int64(4), r.WorstNS)
	p := period{limit: 10}
	for at := range 200 {
		worst := time.Duration(5)
		if at == 30 {
			worst = 11
		}
		p.add(time.Duration(at)*time.Second, worst)
	}
	require.Equal(t, int64(31*time.Second), *p.latest(new(int64)))
	require.Nil(t, p.latest(nil))
	require.Nil(t, (&period{}).latest(new(int64)))
}
