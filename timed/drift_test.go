package timed

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	drawDrift = rapid.Custom(func(t *rapid.T) Drift {
		return Drift(rapid.Int64Range(0, int64(MaxDrift)).Draw(t, "ppb"))
	})
	// A century in either direction, longer than any process runs.
	drawDuration = rapid.Custom(func(t *rapid.T) time.Duration {
		d := rapid.Int64Range(0, 100*365*86400*1e9).Draw(t, "ns")
		if rapid.Bool().Draw(t, "short") {
			d %= 10 * 1e9
		}
		if rapid.Bool().Draw(t, "negative") {
			d = -d
		}
		return time.Duration(d)
	})
)

// exact returns d(1 + k·ρ) as a rational number.
func exact(d time.Duration, rho Drift, k int64) *big.Rat {
	f := new(big.Rat).SetFrac64(billion+k*int64(rho), billion)
	return f.Mul(f, new(big.Rat).SetInt64(int64(d)))
}

func rat(d time.Duration) *big.Rat { return new(big.Rat).SetInt64(int64(d)) }

// requireFloor requires got to be ⌊x⌋.
func requireFloor(t require.TestingT, got time.Duration, x *big.Rat) {
	require.LessOrEqual(t, rat(got).Cmp(x), 0, "%d is above %v", got, x)
	require.Positive(t, rat(got+1).Cmp(x), "%d is not the largest below %v", got, x)
}

// requireCeiling requires got to be ⌈x⌉.
func requireCeiling(t require.TestingT, got time.Duration, x *big.Rat) {
	require.GreaterOrEqual(t, rat(got).Cmp(x), 0, "%d is below %v", got, x)
	require.Negative(t, rat(got-1).Cmp(x), "%d is not the smallest above %v", got, x)
}

func TestDriftRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho, d := drawDrift.Draw(t, "rho"), drawDuration.Draw(t, "d")
		sign := int64(1)
		if d < 0 {
			sign = -1
		}
		requireFloor(t, rho.Lower(d), exact(d, rho, -sign))
		requireCeiling(t, rho.Upper(d), exact(d, rho, sign))
		requireFloor(t, rho.Trust(d)+3*Granule, exact(d, rho, -2*sign))
		require.Equal(t, rho.Upper(d), -rho.Lower(-d))
	})
}

// One clock makes a promise of d at one end of the drift range, and a clock at
// the other end measures it. Trust must end before the promise, and Wait after it.
func TestTrustAndWaitBetweenExtremeClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho, d := drawDrift.Draw(t, "rho"), drawDuration.Draw(t, "d").Abs()
		fast := new(big.Rat).SetFrac64(billion-int64(rho), billion) // real time per unit
		slow := new(big.Rat).SetFrac64(billion+int64(rho), billion)

		shortest := new(big.Rat).Mul(rat(d), fast)
		shortest.Quo(shortest, slow)
		require.LessOrEqual(t, rat(rho.Trust(d)+3*Granule).Cmp(shortest), 0)

		longest := new(big.Rat).Mul(rat(d), slow)
		longest.Quo(longest, fast)
		wait := rat(rho.Wait(d))
		require.GreaterOrEqual(t, wait.Cmp(longest), 0, "d(1+ρ)/(1−ρ) is %v", longest)
		// The excess is at most 3ρ² instead of 2ρ²+2ρ³+…, and two roundings.
		slack := exact(d, rho, 2)
		slack.Add(slack, new(big.Rat).Mul(rat(d), new(big.Rat).SetFrac64(3*int64(rho)*int64(rho)/billion+2, billion)))
		require.LessOrEqual(t, wait.Cmp(slack.Add(slack, rat(1))), 0)
	})
}

func TestSlackIsCeilingOfProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho, d := drawDrift.Draw(t, "rho"), time.Duration(drawInt64.Draw(t, "d"))
		k := rapid.Int64Range(0, 4).Draw(t, "clocks")
		if d == math.MinInt64 {
			d++ // TestSlackOfExtremes covers it
		}
		x := new(big.Rat).SetFrac64(k*int64(rho), billion)
		requireCeiling(t, rho.Slack(d, k), x.Mul(x, rat(d.Abs())))
	})
}

func TestCoverIsShortestPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho, d := drawDrift.Draw(t, "rho"), drawDuration.Draw(t, "d").Abs()
		c := rho.cover(d)
		require.GreaterOrEqual(t, rho.Trust(c), d)
		require.Less(t, rho.Trust(c-1), d)
	})
}

// Conversions keep the order of durations, so a layer may compare converted
// ones. A worse clock never lengthens a lease or shortens a wait.
func TestConversionsAreMonotone(t *testing.T) {
	conversions := []struct {
		name  string
		to    func(Drift, time.Duration) time.Duration
		grows bool // with ρ
	}{
		{"Lower", Drift.Lower, false}, {"Upper", Drift.Upper, true}, {"Trust", Drift.Trust, false},
		{"Wait", Drift.Wait, true}, {"cover", Drift.cover, true},
	}
	rapid.Check(t, func(t *rapid.T) {
		rho, worse := drawDrift.Draw(t, "rho"), drawDrift.Draw(t, "worse")
		rho, worse = min(rho, worse), max(rho, worse)
		d, longer := drawDuration.Draw(t, "d").Abs(), drawDuration.Draw(t, "longer").Abs()
		d, longer = min(d, longer), max(d, longer)
		for _, c := range conversions {
			require.LessOrEqual(t, c.to(rho, d), c.to(rho, longer), c.name)
			if c.grows {
				require.LessOrEqual(t, c.to(rho, d), c.to(worse, d), c.name)
			} else {
				require.GreaterOrEqual(t, c.to(rho, d), c.to(worse, d), c.name)
			}
		}
	})
}

func TestSlackOfExtremes(t *testing.T) {
	require.Equal(t, time.Duration(0), Drift(0).Slack(math.MaxInt64, 1))
	require.Equal(t, time.Duration(1), Drift(1).Slack(1, 1), "rounds up to a whole nanosecond")
	require.Equal(t, time.Duration(1), Drift(1).Slack(-1, 1))
	require.Equal(t, time.Duration(0), Drift(1).Slack(0, 1))
	for _, d := range []time.Duration{math.MaxInt64, math.MinInt64, math.MinInt64 + 1} {
		x := new(big.Rat).SetInt64(int64(d))
		x.Abs(x).Mul(x, new(big.Rat).SetFrac64(2*int64(MaxDrift), billion))
		got := MaxDrift.Slack(d, 2)
		require.GreaterOrEqual(t, rat(got).Cmp(x), 0)
		require.LessOrEqual(t, rat(got-2).Cmp(x), 0)
	}
}

// Products of every size are exact: the short way of small ones ends before they do not fit.
func TestSlackOfEveryMagnitude(t *testing.T) {
	for i := range 62 {
		for j := range 24 {
			for _, near := range []time.Duration{-1, 0, 1} {
				d, rho := 1<<i+near, Drift(1)<<j
				for _, rho := range []Drift{rho - 1, rho} {
					requireCeiling(t, rho.Slack(d, 1), new(big.Rat).Mul(rat(d), new(big.Rat).SetFrac64(int64(rho), billion)))
				}
			}
		}
	}
}

func TestDriftValidate(t *testing.T) {
	require.NoError(t, Drift(0).Validate())
	require.NoError(t, MaxDrift.Validate())
	require.Error(t, Drift(-1).Validate())
	require.Error(t, (MaxDrift + 1).Validate())
}

// The same at the ends of the ranges, which random numbers seldom meet.
func TestWaitOutlastsPromisesOfTheWorstClocks(t *testing.T) {
	for _, rho := range []Drift{0, 1, 1000, 100_000, 800_000, 1_000_000, 5_000_000, MaxDrift - 1, MaxDrift} {
		for _, d := range []time.Duration{0, 1, time.Microsecond, time.Second, MaxDuration, 2 * MaxDuration, 1000 * time.Hour} {
			longest := new(big.Rat).Mul(rat(d), new(big.Rat).SetFrac64(billion+int64(rho), billion-int64(rho)))
			require.GreaterOrEqual(t, rat(rho.Wait(d)).Cmp(longest), 0, "ρ %d, %v", rho, d)
		}
	}
}
