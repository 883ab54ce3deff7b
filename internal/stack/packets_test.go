package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A node that runs for years reuses the same few packets.
func TestPacketsAreUsedAgain(t *testing.T) {
	now := timed.Instant(time.Hour)
	s := New(Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Timing: timed.LAN()}, timed.SetOf(2, 3), now, 0)
	var out []Effect
	sent, most := 0, 0
	for range 1000 {
		now = timed.Later(now.Add(time.Microsecond), s.Deadline())
		out = s.HandleTimeout(now, out[:0])
		inTurn := 0
		for i := range out {
			if out[i].Kind == Send {
				inTurn++
			}
		}
		sent += inTurn
		most = max(most, inTurn)
	}
	require.Greater(t, sent, 1000)
	require.LessOrEqual(t, len(s.packets.packets), most)
}
