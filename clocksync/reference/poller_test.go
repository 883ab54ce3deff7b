package reference

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// script is a source with scripted outcomes. It records the times of all polls.
type script struct {
	outcome func(n int) error
	polled  []time.Time
}

func (s *script) poll(context.Context) (Sample, error) {
	s.polled = append(s.polled, time.Now())
	err := s.outcome(len(s.polled))
	x := Sample{Address: "here", Delay: time.Millisecond, Distance: time.Microsecond, Stratum: 2}
	x.Sample = clocksync.Sample{Source: 7}
	return x, err
}

// play runs a poller for d in virtual time.
func play(t *testing.T, d time.Duration, outcome func(n int) error) (gaps []time.Duration, st Status, delivered int) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{outcome: outcome}
		p := &Poller{src: s, st: Status{Name: "x", Poll: DefaultNTPPoll}}
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		p.Run(ctx, func(Sample) { delivered++ })
		for i := 1; i < len(s.polled); i++ {
			gaps = append(gaps, s.polled[i].Sub(s.polled[i-1]))
		}
		st = p.Status()
	})
	return gaps, st, delivered
}

func within(t *testing.T, want, got time.Duration) {
	t.Helper()
	require.InDelta(t, float64(want), float64(got), float64(want)/9)
}

func TestPollerStartsWithBurst(t *testing.T) {
	gaps, st, delivered := play(t, 5*time.Minute, func(int) error { return nil })
	for i, gap := range gaps {
		if i < burst-1 {
			within(t, burstPeriod, gap)
		} else {
			within(t, DefaultNTPPoll, gap)
		}
	}
	require.Equal(t, int(st.Samples), delivered)
	require.Greater(t, delivered, 15)
	require.Equal(t, uint8(0xff), st.Reach)
	require.Equal(t, clocksync.SourceID(7), st.Source)
	require.Equal(t, 2, st.Stratum)
	distinct := map[time.Duration]bool{}
	for _, gap := range gaps[burst:] {
		distinct[gap] = true
	}
	require.Greater(t, len(distinct), 1, "with jitter")
}

func TestPollerBacksOff(t *testing.T) {
	gaps, st, delivered := play(t, 2*time.Hour, func(int) error { return errors.New("no answer") })
	for i, gap := range gaps {
		within(t, min(DefaultNTPPoll<<min(i, maxDoublings), MaxPoll), gap)
	}
	require.Zero(t, delivered)
	require.Zero(t, st.Reach)
	require.Equal(t, "no answer", st.Error)
	require.Equal(t, MaxPoll, st.Poll, "the status has the time that the next poll takes to come")
	require.Less(t, MaxPoll+MaxPoll/10, clocksync.SampleLife, "it counts from one poll to the next")
	require.Zero(t, st.Rejected)
}

func TestPollerSlowsDownPermanently(t *testing.T) {
	_, st, _ := play(t, time.Hour, func(n int) error {
		if n == 5 {
			return errSlow
		}
		return nil
	})
	require.Equal(t, 2*DefaultNTPPoll, st.Poll)
	require.EqualValues(t, 1, st.Rejected)
	require.Equal(t, errSlow.Error(), st.Reason)
}

func TestPollerEndsWhenAllAddressesDeny(t *testing.T) {
	gaps, st, _ := play(t, 24*time.Hour, func(n int) error {
		if n == 2 {
			return errGone
		}
		return &RejectedError{"because"}
	})
	require.Len(t, gaps, 1)
	require.True(t, st.Gone)
	require.Equal(t, "rejected: because", st.Reason)
	require.EqualValues(t, 1, st.Rejected)
}

// The status is that of the last answer, also where it says less than the one before.
func TestStatusIsOfTheLastAnswer(t *testing.T) {
	p := &Poller{st: Status{Poll: DefaultNTPPoll}}
	for _, x := range []Sample{
		{Sample: clocksync.Sample{Source: 7, At: 9}, Address: "a", Stratum: 5, Delay: 6, Distance: 7},
		{Sample: clocksync.Sample{Source: 3, At: 8}, Address: "b", Stratum: 2, Delay: 4, Distance: 5},
	} {
		p.note(&x, nil)
		st := p.Status()
		require.Equal(t, x, Sample{Sample: st.Latest, Address: st.Address, Stratum: st.Stratum, Delay: st.Delay, Distance: st.Distance})
		require.Equal(t, x.Source, st.Source)
	}
}
