package udp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

// A reader that is about to set its timer while somebody hastens it sets the timer
// last, and must not set it to the later deadline.
func TestADeadlineThatCameWhileTheTimerWasSetIsSeen(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	b := c.sock.bell
	now := testClock().Now()
	b.calls = &c.calls
	b.now, b.until = now, now.Add(time.Hour)
	c.Hasten(now.Add(time.Minute)) // the reader does not wait yet, so this leaves the timer alone
	require.NoError(t, b.arm())
	var left unix.ItimerSpec
	require.NoError(t, unix.TimerfdGettime(b.timer, &left))
	require.LessOrEqual(t, time.Duration(left.Value.Nano()), time.Minute)
	require.Equal(t, now.Add(time.Minute), b.until)

	c.calls.hasten(timed.Never)
	b.until = now.Add(time.Hour)
	require.NoError(t, b.arm())
	require.NoError(t, unix.TimerfdGettime(b.timer, &left))
	require.Greater(t, time.Duration(left.Value.Nano()), time.Minute)
}
