package reference

import (
	"context"
	"errors"
	"slices"
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
	end     func()
}

// errEnd is the outcome that ends the play.
var errEnd = errors.New("the end")

func (s *script) poll(context.Context) (Sample, error) {
	s.polled = append(s.polled, time.Now())
	err := s.outcome(len(s.polled))
	if errors.Is(err, errEnd) {
		s.end()
	}
	x := Sample{Address: "here", Delay: time.Millisecond, Distance: time.Microsecond, Stratum: 2}
	x.Sample = clocksync.Sample{Source: 7}
	return x, err
}

// play runs a poller for d in virtual time.
func play(t *testing.T, d time.Duration, outcome func(n int) error) (gaps []time.Duration, st Status, delivered int) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{outcome: outcome}
		p := &Poller{src: s, era: func() uint32 { return 1 }, st: Status{Name: "x", Poll: DefaultNTPPoll}, base: DefaultNTPPoll}
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		s.end = cancel
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

func TestPollerSlowsDownWhenAskedTo(t *testing.T) {
	kissed := func(polls int, kisses ...int) Status {
		_, st, _ := play(t, 1000*time.Hour, func(n int) error {
			switch {
			case slices.Contains(kisses, n):
				return errSlow
			case n >= polls:
				return errEnd
			}
			return nil
		})
		return st
	}
	st := kissed(6+calmPolls, 5)
	require.Equal(t, DefaultNTPPoll, st.Poll, "it is calm again")
	require.EqualValues(t, 1, st.Rejected)
	require.Equal(t, errSlow.Error(), st.Reason)
	require.Equal(t, 2*DefaultNTPPoll, kissed(5+calmPolls, 5).Poll)
	require.Equal(t, 4*DefaultNTPPoll, kissed(8, 5, 6).Poll)
	require.Equal(t, 4*DefaultNTPPoll, kissed(6+2*calmPolls, 5, 6).Poll, "a second kiss counts for longer")
	require.Equal(t, 2*DefaultNTPPoll, kissed(7+2*calmPolls, 5, 6).Poll)
	require.Equal(t, DefaultNTPPoll, kissed(7+4*calmPolls, 5, 6).Poll)
	require.Equal(t, MaxPoll, kissed(100, 5, 6, 7, 8, 9, 10, 11, 12).Poll)
	require.Equal(t, DefaultNTPPoll, kissed(2000, 5, 6, 7, 8, 9, 10, 11, 12).Poll)
}

// Kisses of a long time do not add up to a period at which the bound on UTC is too wide, and a
// server that kisses whenever it is asked at the configured period is seldom asked so.
func TestKissesDoNotAddUp(t *testing.T) {
	_, st, _ := play(t, 30*24*time.Hour, func(n int) error {
		if n%1000 == 999 {
			return errSlow
		}
		return nil
	})
	require.Greater(t, st.Rejected, uint64(50))
	require.LessOrEqual(t, st.Poll, 2*DefaultNTPPoll)

	p := &Poller{st: Status{Poll: DefaultNTPPoll}, base: DefaultNTPPoll}
	for range 10_000 {
		if p.st.Samples > 0 && p.st.Poll == p.base && p.calm == 0 {
			p.note(&Sample{}, errSlow)
		} else {
			p.note(&Sample{}, nil)
		}
	}
	require.Less(t, p.st.Rejected, uint64(100))
}

func TestPollerGoesOnWhenAllAddressesDeny(t *testing.T) {
	for answers, gone := range map[int]bool{5: false, 1000: true} {
		gaps, st, delivered := play(t, 2*time.Hour, func(n int) error {
			switch {
			case n == 1:
				return &RejectedError{"because"}
			case n < answers:
				return errGone
			}
			return nil
		})
		require.Greater(t, len(gaps), 8)
		require.Equal(t, gone, st.Gone)
		require.Equal(t, gone, delivered == 0)
		require.Equal(t, "rejected: because", st.Reason)
		require.EqualValues(t, 1, st.Rejected)
		require.Equal(t, gone, st.Sent == 1, "nothing is sent meanwhile")
	}
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

// suspended has the machine sleep during a question.
func suspended(t testing.TB) {
	for _, asleep := range []bool{false, true} {
		era := uint32(3)
		p := &Poller{era: func() uint32 { return era }, src: &script{outcome: func(int) error {
			if asleep {
				era++
			}
			return nil
		}}}
		s, err := p.poll(t.Context())
		require.Equal(t, asleep, errors.Is(err, errSuspended))
		require.EqualValues(t, 3, s.Era, "the answer to an earlier question counts in no later era")
	}
}

func TestASampleFromBeforeASuspendIsNone(t *testing.T) { suspended(t) }
