package hwclock

import (
	"errors"
	"strconv"
	"strings"
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

// A slew of a phase, which takes some seconds, blames no clock that was fine. One that lasts does, and
// one that is met first.
func TestASlewBlamesNoClock(t *testing.T) {
	for _, c := range []struct {
		answers string // in parts per million
		want    []Verdict
		took    time.Duration
	}{
		{"0 500 500 0 -500 80 500 500 0", []Verdict{RateFine, RateSuspect, RateFine}, 3*rateEvery + 5*againEvery},
		{"0 500 500 500 500 0", []Verdict{RateFine, RateFaulty, RateFine}, rateEvery + 4*againEvery},
		{"500 500 0 500", []Verdict{RateFaulty, RateFine}, rateEvery + 2*againEvery},
	} {
		answers := strings.Fields(c.answers)
		synctest.Test(t, func(t *testing.T) {
			var f findings
			began, last := time.Now(), time.Duration(0)
			watchRate(nil, timed.Drift(100_000), func() (Status, error) {
				if len(answers) == 0 {
					return Status{}, errors.ErrUnsupported
				}
				ppm, _ := strconv.Atoi(answers[0])
				answers, last = answers[1:], time.Since(began)
				return Status{true, int64(ppm) * 1000}, nil
			}, &f)
			require.Equal(t, c.want, f.verdicts, c.answers)
			require.Equal(t, c.took, last, c.answers)
		})
	}
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
		}{{Status: free}, {Status: fine}, {Status: faulty}, {Status: faulty}, {Status: faulty}, {error: failure}, {error: failure}, {Status: faulty}, {Status: free}, {Status: fine},
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
