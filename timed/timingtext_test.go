package timed

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTimingAsText(t *testing.T) {
	const lan = "drift 100 ppm, one-way timeout 4.9ms, fast threshold 10ms, scheduling delay 5ms, election period 25ms, " +
		"keepalive period 25ms, expires 100ms, lock time 80ms, max lock time 80ms"
	require.Equal(t, lan, LAN().String())
	near := LAN()
	near.MinDelay = 30 * time.Microsecond
	require.Equal(t, lan+", min delay 30µs", near.String())
	require.Equal(t, "unknown", Timing{}.String())
	require.Equal(t, "drift 0.5 ppm, one-way timeout 1ms, fast threshold unknown, scheduling delay unknown, election period unknown, "+
		"keepalive period unknown, expires unknown, lock time unknown, max lock time unknown",
		Timing{MaxDrift: 500, OneWayTimeout: time.Millisecond}.String())
	require.Contains(t, Timing{MaxDrift: -1}.String(), "drift unknown,")
}

func TestBoundsAsText(t *testing.T) {
	b, err := LAN().Validate()
	require.NoError(t, err)
	require.Equal(t, "ready 80.03ms, notice 115.01ms, depose 80.01ms, elect 279.84ms, view 434.47ms, rejoin 384.76ms", b.String())

	_, err = Timing{}.Validate()
	require.Error(t, err)
	require.Equal(t, "unknown", Bounds{}.String())
	require.Equal(t, "ready 10µs, notice 1.01ms, depose unknown, elect unknown, view unknown, rejoin 1h0m0s",
		Bounds{Ready: 1, Notice: time.Millisecond + 1, Depose: -1, Elect: math.MaxInt64, Rejoin: time.Hour}.String())
}

// A printed bound is never below the bound.
func TestBoundsAsTextAreBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "bound"))
		text := roundedUp(d)
		if text == unknown {
			require.True(t, d <= 0 || d > math.MaxInt64-10_000)
			return
		}
		back, err := time.ParseDuration(text)
		require.NoError(t, err)
		require.True(t, d <= back && back < d+10*time.Microsecond, "%v prints as %v", d, text)
	})
}
