package clockbound

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestOldSegmentIsFreeRunningThenUnknown(t *testing.T) {
	const now = int64(1000 * time.Second)
	for _, c := range []struct {
		age  time.Duration
		was  Status
		want Status
	}{
		{0, Synchronized, Synchronized},
		{Grace - 1, Synchronized, Synchronized},
		{Grace, Synchronized, FreeRunning},
		{Validity - 1, Synchronized, FreeRunning},
		{Validity, Synchronized, Unknown},
		{Grace - 1, FreeRunning, FreeRunning},
		{Validity, FreeRunning, Unknown},
		{0, Unknown, Unknown},
		{Validity, Disrupted, Disrupted},
	} {
		asOf := now - int64(c.age)
		r := record{asOf: asOf, voidAfter: asOf + int64(Validity), bound: 1000, maxDrift: 500_000, status: c.was}
		got, err := r.at(77, now)
		require.NoError(t, err)
		require.Equal(t, c.want, got.status, "%v after %v", c.was, c.age)
		growth := int64(math.Ceil(float64(c.age) * 500e-6))
		require.Equal(t, interval{77 - 1000 - growth, 77 + 1000 + growth, c.want}, got)
	}
}

func TestDamagedRecordsAreRefused(t *testing.T) {
	good := record{asOf: 5, voidAfter: 10, bound: 1, maxDrift: 1, status: Synchronized}
	for name, spoil := range map[string]func(*record){
		"a bound below zero":     func(r *record) { r.bound = -1 },
		"a drift of one":         func(r *record) { r.maxDrift = maxDriftLimit },
		"a status of no meaning": func(r *record) { r.status = 4 },
		"a status below zero":    func(r *record) { r.status = -1 },
	} {
		r := good
		spoil(&r)
		_, err := r.at(100, 6)
		require.ErrorIs(t, err, ErrMalformed, name)
	}
	_, err := good.at(100, 4)
	require.ErrorIs(t, err, errCausality)
	got, err := good.at(100, 6)
	require.NoError(t, err)
	require.Equal(t, Synchronized, got.status)
}

func TestGrowthRoundsUpWithoutOverflow(t *testing.T) {
	require.Zero(t, growth(0, 999_999_999))
	require.Equal(t, int64(1), growth(1, 1))
	require.Equal(t, int64(500), growth(1_000_000, 500_000))
	require.Equal(t, int64(501), growth(1_000_001, 500_000))
	require.Equal(t, int64(math.MaxInt64/2), growth(math.MaxInt64, math.MaxUint32))
	r := record{bound: math.MaxInt64, maxDrift: 1}
	got, err := r.at(0, math.MaxInt64)
	require.NoError(t, err)
	require.Equal(t, interval{-noBound, noBound, Unknown}, got)
}

// A clock that drifts by ρ and is slewed as fast as allowed, in either direction,
// must stay within the bound that a reader computes with the same clock.
func TestDriftCoversWorstClock(t *testing.T) {
	for _, rho := range []timed.Drift{0, 100_000, timed.MaxDrift} {
		for _, slew := range []int64{0, DefaultSlew, 83_333_000, MaxSlew} {
			told := driftOf(rho, slew)
			require.Less(t, told, uint32(maxDriftLimit))
			for _, rate := range []float64{
				(1 + float64(rho)/1e9) * (1 + float64(slew)/1e9),
				(1 - float64(rho)/1e9) * (1 - float64(slew)/1e9),
			} {
				const seconds = 1000
				measured := seconds * rate // of true time, by the clock itself
				require.GreaterOrEqual(t, measured*float64(told), math.Abs(measured-seconds)*1e9, "ρ %d, slew %d", rho, slew)
			}
		}
	}
}
