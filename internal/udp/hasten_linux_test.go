package udp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

// If Hasten is called while the reader is about to set its timer, the reader sets the
// timer last, and must not set it to the later deadline.
func TestAnEarlierDeadlineDuringTheArmingOfTheTimerIsSeen(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	b := c.sock.waiter
	now := testClock().Now()
	b.signals = &c.signals
	b.now, b.until = now, now.Add(time.Hour)
	c.Hasten(now.Add(time.Minute)) // the reader does not wait yet, so this leaves the timer alone
	require.NoError(t, b.arm())
	var left unix.ItimerSpec
	require.NoError(t, unix.TimerfdGettime(b.timer, &left))
	require.LessOrEqual(t, time.Duration(left.Value.Nano()), time.Minute)
	require.Equal(t, now.Add(time.Minute), b.until)

	c.signals.hasten(timed.Never)
	b.until = now.Add(time.Hour)
	require.NoError(t, b.arm())
	require.NoError(t, unix.TimerfdGettime(b.timer, &left))
	require.Greater(t, time.Duration(left.Value.Nano()), time.Minute)
}

// Hasten sets the timer of a reader that waits, and for no longer than one wait may last.
func TestAnEarlierDeadlineSetsTheTimerOfAWait(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	c.waiting.Store(true)
	defer c.waiting.Store(false)
	for in, most := range map[time.Duration]time.Duration{longestWait / 2: longestWait / 2, time.Hour: longestWait} {
		c.Hasten(testClock().Now().Add(in))
		var left unix.ItimerSpec
		require.NoError(t, unix.TimerfdGettime(c.sock.waiter.timer, &left))
		require.LessOrEqual(t, time.Duration(left.Value.Nano()), most)
	}
}
