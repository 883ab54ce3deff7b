package timed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIndirectPeriod(t *testing.T) {
	for _, name := range Presets() {
		p, err := Preset(name)
		require.NoError(t, err)
		require.Equal(t, 8*p.KeepalivePeriod, p.IndirectPeriod(), name)
	}
	tight := LAN()
	tight.FastThreshold = tight.LeastFast()
	require.Equal(t, tight.KeepalivePeriod, tight.IndirectPeriod())
	tight.FastThreshold += 20 * time.Microsecond // 4ρ of 50 ms
	require.InDelta(t, float64(tight.KeepalivePeriod+50*time.Millisecond), float64(tight.IndirectPeriod()), float64(time.Microsecond))
	exact := LAN()
	exact.MaxDrift = 0
	require.Equal(t, 8*exact.KeepalivePeriod, exact.IndirectPeriod())
}
