package hwclock

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// An answer that fails says nothing about the rate, and the watch goes on.
func TestTheWatchOutlivesAnError(t *testing.T) {
	verdicts, left := watched(t)
	require.Equal(t, []Verdict{RateFine, RateFaulty, RateUnknown, RateFaulty, RateUnknown, RateFine}, verdicts)
	require.Equal(t, 1, left)
}

// watched returns the verdicts of a watch, and how many of the kernel's answers it
// left.
func watched(t *testing.T) (verdicts []Verdict, left int) {
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
		}, func(v Verdict, _ Status) { verdicts = append(verdicts, v) })
		left = len(answers)
	})
	return verdicts, left
}
