package udp

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
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

// Whoever of the two sets the timer last, Hasten or a reader on its way to sleep, sets it to the
// earlier deadline.
func TestNoEarlierDeadlineIsLost(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	c.waiting.Store(true)
	defer c.waiting.Store(false)
	b := c.sock.waiter
	b.signals = &c.signals
	const rounds = 100_000        // the two meet seldom
	var begun, ended atomic.Int64 // rounds of Hasten
	defer begun.Store(rounds)
	now := testClock().Now()
	go func() {
		for i := range int64(rounds) {
			for begun.Load() <= i {
				runtime.Gosched()
			}
			c.Hasten(now.Add(time.Minute))
			ended.Store(i + 1)
		}
	}()
	random, spun := rand.New(rand.NewPCG(1, 2)), 0
	for i := range int64(rounds) {
		c.signals.hasten(timed.Never)
		b.now, b.until = now, now.Add(time.Hour)
		begun.Store(i + 1)
		for range random.IntN(300) { // meet it anywhere
			spun++
		}
		require.NoError(t, b.arm())
		for ended.Load() <= i {
			runtime.Gosched()
		}
		var left unix.ItimerSpec
		require.NoError(t, unix.TimerfdGettime(b.timer, &left))
		require.LessOrEqual(t, time.Duration(left.Value.Nano()), time.Minute, "round %d", i)
	}
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
