package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Members that lag are worth a warning when nothing has changed from one look to the next, and
// again after a while. Members that make progress are not.
func TestMembersThatLagAreWarnedOf(t *testing.T) {
	var l lag
	at := func(s int) timed.Instant { return timed.Instant(time.Hour).Add(time.Duration(s) * time.Second) }
	three, none := timed.SetOf(3), timed.Set{}
	require.False(t, l.note(at(0), three, 7))
	require.False(t, l.note(at(10), three, 8), "there is another decision")
	require.True(t, l.note(at(20), three, 8))
	require.Equal(t, at(10), l.since)
	require.False(t, l.note(at(30), three, 8), "it was said")
	require.True(t, l.note(at(80), three, 8))
	require.False(t, l.note(at(90), none, 8))
	require.False(t, l.note(at(200), three, 8), "it is new")
	require.False(t, l.note(at(210), timed.SetOf(2), 8), "it is another one")
	require.True(t, l.note(at(220), timed.SetOf(2), 8))
}
