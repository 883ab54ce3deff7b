package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A new sample of a reference is forwarded at once, however lately the one before was.
func TestNewSamplesAreForwardedAtOnce(t *testing.T) { forwardsTheNew(t) }

func forwardsTheNew(t testing.TB) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	to := timed.Incarnation{Node: 2, Boot: 2}
	for at := start; at < start.Add(forwardEvery); at = at.Add(forwardEvery / 2) {
		says(c, 1, at, 0, time.Millisecond, NoLeap)
		for range forwardTimes {
			require.NotEmpty(t, c.Forward(at, to, nil))
		}
		require.Empty(t, c.Forward(at, to, nil))
	}
}
