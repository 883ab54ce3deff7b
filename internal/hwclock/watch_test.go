package hwclock

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// An answer that fails says nothing about the rate, and the watch goes on.
func TestTheWatchOutlivesAnError(t *testing.T) {
	f, left := watched(t)
	require.Equal(t, []Verdict{RateFine, RateFaulty, RateUnknown, RateFaulty, RateUnknown, RateFine}, f.verdicts)
	require.Equal(t, 1, left)
	require.Equal(t, 1, f.warnings, "one error follows another")
}

// A clock that breaks ρ is asked about again soon, so that the end of a slew is noticed.
func TestTheEndOfASlewIsNoticedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rates, began, asked := []int64{0, 200_000, 0}, time.Now(), []time.Duration(nil)
		watchRate(nil, timed.Drift(100_000), func() (Status, error) {
			asked = append(asked, time.Since(began))
			if len(asked) > len(rates) {
				return Status{}, errors.ErrUnsupported
			}
			return Status{true, rates[len(asked)-1]}, nil
		}, new(findings))
		require.Equal(t, []time.Duration{0, rateEvery, rateEvery + againEvery, 2*rateEvery + againEvery}, asked)
	})
}

// findings are those of a watch.
type findings struct {
	verdicts []Verdict
	warnings int
}

func (f *findings) JudgeRate(v Verdict, _ Status) { f.verdicts = append(f.verdicts, v) }
func (f *findings) WarnUnwatched(error)           { f.warnings++ }

// watched returns what a watch found, and how many of the kernel's answers it left.
func watched(t *testing.T) (f findings, left int) {
	synctest.Test(t, func(t *testing.T) {
		fine, faulty, free := Status{true, 0}, Status{true, 200_000}, Status{false, 200_000}
		failure := errors.New("interrupted")
		answers := []struct {
			Status
			error
		}{{Status: free}, {Status: fine}, {Status: faulty}, {error: failure}, {error: failure}, {Status: faulty}, {Status: free}, {Status: fine},
			{error: errors.ErrUnsupported}, {Status: faulty}}
		watchRate(nil, timed.Drift(100_000), func() (Status, error) {
			a := answers[0]
			answers = answers[1:]
			return a.Status, a.error
		}, &f)
		left = len(answers)
	})
	return f, left
}
