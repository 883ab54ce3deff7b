package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A dispute says nothing of the rate of this clock: a line that begins before the references agree again
// runs at the rate that was learnt.
func disputeKeepsTheRate(t testing.TB) {
	var s steering
	for k := range 20 {
		at := timed.Instant(0).Add(time.Duration(k) * 16 * time.Second)
		utc := Time(int64(at) + int64(at)/50_000) // 20 ppm fast
		s.add(1, interval{at, utc - 1000, utc + 1000})
	}
	require.InDelta(t, 20_000, s.rate, 2_000)
	rate := s.rate
	s.due = 7
	s.lost()
	require.Equal(t, rate, s.rate)
	require.EqualValues(t, 7, s.due)
	require.False(t, s.fitted)
}

func TestADisputeKeepsTheRate(t *testing.T) { disputeKeepsTheRate(t) }
