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
	for _, slow := range []time.Duration{time.Second, 9 * time.Second, 10 * time.Second, time.Minute, MaxDuration} {
		p := WAN()
		p.FastThreshold = p.LeastFast() + slow
		require.Equal(t, 8*p.KeepalivePeriod, p.IndirectPeriod(), slow)
		p.KeepalivePeriod = MaxDuration
		p.FastThreshold = p.LeastFast() + slow
		require.Equal(t, MaxDuration+min(7*MaxDuration, slow*(billion/4/time.Duration(p.MaxDrift))), p.IndirectPeriod(), slow)
		p.MaxDrift, p.FastThreshold = 1, MaxDuration
		require.Equal(t, 8*MaxDuration, p.IndirectPeriod(), "the quotient does not fit")
	}
	exact := LAN()
	exact.MaxDrift = 0
	require.Equal(t, 8*exact.KeepalivePeriod, exact.IndirectPeriod())
}

// A leader that is in time asks once a period, may begin a turn SchedulingDelay late, and its
// request may take FastThreshold. What it says then is as old as that, and still counts.
func TestVouchedPeriodCoversATimelyLeader(t *testing.T) {
	for _, name := range Presets() {
		p, err := Preset(name)
		require.NoError(t, err)
		oldest := p.Period() + p.SchedulingDelay + p.FastThreshold
		require.GreaterOrEqual(t, p.VouchedPeriod(), p.MaxDrift.Upper(oldest), name)
		require.Less(t, p.VouchedPeriod(), oldest+p.FastThreshold, name)
	}
}

// The loss of one direct packet ends nothing: the next one comes while words still count. A
// link that fails one way shows all the same.
func TestWordsOutlastALostPacket(t *testing.T) {
	for _, name := range Presets() {
		p, err := Preset(name)
		require.NoError(t, err)
		next := 2*(p.IndirectPeriod()+p.SchedulingDelay) + p.OneWayTimeout
		require.Greater(t, p.WordLasts()+p.Expires-p.VouchedPeriod(), next, name)
		require.GreaterOrEqual(t, p.WordLasts(), p.IndirectPeriod()+p.Expires, name)
		require.LessOrEqual(t, p.WordLasts(), p.IndirectPeriod()+3*p.Expires, name)
	}
	rare := LAN()
	rare.ElectionPeriod = time.Second // the leader's word comes seldom
	require.Equal(t, rare.IndirectPeriod()+3*rare.Expires, rare.WordLasts(), "a link that fails one way shows")
}
