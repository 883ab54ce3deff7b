package udp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestAnEarlierDeadlineEndsTheWaitUnderWay(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	set := make(chan timed.Instant, 1)
	go func() {
		for !c.waiting.Load() {
			time.Sleep(time.Millisecond)
		}
		deadline := testClock().Now().Add(time.Millisecond)
		c.Hasten(deadline)
		set <- deadline
	}()
	n, err := c.ReadBatch(room(1), timed.Never)
	require.NoError(t, err)
	require.Zero(t, n)
	require.GreaterOrEqual(t, testClock().Now(), <-set)
}

func TestAnEarlierDeadlineHoldsForTheNextCallOnly(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	c.Hasten(testClock().Now())
	n, err := c.ReadBatch(room(1), timed.Never)
	require.NoError(t, err)
	require.Zero(t, n)

	deadline := testClock().Now().Add(time.Millisecond)
	n, err = c.ReadBatch(room(1), deadline)
	require.NoError(t, err)
	require.Zero(t, n)
	require.GreaterOrEqual(t, testClock().Now(), deadline)
}

func TestALaterDeadlineChangesNothing(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	c.Hasten(testClock().Now().Add(time.Hour))
	deadline := testClock().Now().Add(time.Millisecond)
	n, err := c.ReadBatch(room(1), deadline)
	require.NoError(t, err)
	require.Zero(t, n)
	require.GreaterOrEqual(t, testClock().Now(), deadline)
}
