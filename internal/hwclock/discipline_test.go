package hwclock

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestRateErrorAddsFrequencyAndTick(t *testing.T) {
	for _, c := range []struct{ freq, tick, ppb int64 }{
		{0, 10_000, 0},
		{1 << 16, 10_000, 1000},          // one part per million
		{-1 << 16, 10_000, -1000},        //
		{1, 10_000, 1},                   // 0.015 ppb, rounded away from zero
		{-1, 10_000, -1},                 //
		{32_768_000, 10_000, 500_000},    // the largest frequency: 500 ppm
		{0, 10_001, 100_000},             // one microsecond in ten milliseconds
		{0, 9_999, -100_000},             //
		{-50 << 16, 10_001, 50_000},      // they add up
		{100 << 16, 9_999, 0},            // and cancel out
		{0, 11_000, 100_000_000},         // the longest tick
		{-32_768_000, 9_000, -100500000}, // both at their ends
	} {
		require.Equal(t, c.ppb, rateError(c.freq, c.tick), "freq %d, tick %d", c.freq, c.tick)
	}
}

func TestJudgeWarnsFromSevenTenthsOfRhoAndFaultsAboveRho(t *testing.T) {
	const rho = timed.Drift(100_000)
	for _, c := range []struct {
		status Status
		want   Verdict
	}{
		{Status{true, 0}, RateFine},
		{Status{true, 70_000}, RateFine},
		{Status{true, 70_001}, RateSuspect},
		{Status{true, -70_001}, RateSuspect},
		{Status{true, -100_000}, RateSuspect},
		{Status{true, 100_001}, RateFaulty},
		{Status{true, -100_001}, RateFaulty},
		{Status{false, 500_000}, RateUnknown},
	} {
		require.Equal(t, c.want, c.status.Judge(rho), "%+v", c.status)
	}
}

func TestDisciplineAsksTheKernel(t *testing.T) {
	s, err := Discipline()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Logf("%+v", s)
}

// The service's sandbox lets the question through: otherwise a clock that breaks MaxDrift goes
// unnoticed, and the kernel's clock is no reference.
func TestTheServiceMayAskTheKernel(t *testing.T) {
	unit, err := os.ReadFile("../../packaging/systemd/failaware.service")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^SystemCallFilter=[^~].*\badjtimex\b`, string(unit))
	require.NotRegexp(t, `(?m)^ProtectClock=yes`, string(unit))
}
