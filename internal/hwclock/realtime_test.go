package hwclock

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestReceiptIsTheLaterConversionButNotAfterTheRead(t *testing.T) {
	const second, ms = timed.Instant(time.Second), timed.Instant(time.Millisecond)
	before := RealtimeSample{At: second, Offset: 100 * time.Second}
	at := func(at timed.Instant, offset time.Duration) RealtimeSample { return RealtimeSample{at, offset} }
	end := second + 25*ms
	for name, c := range map[string]struct {
		stamp int64
		after RealtimeSample
		want  timed.Instant
	}{
		"same offset":                {int64(101*second + 10*ms), at(end, 100*time.Second), second + 10*ms},
		"REALTIME is slewed slower":  {int64(101*second + 10*ms), at(end, 100*time.Second-1000), second + 10*ms + 1000},
		"REALTIME is slewed faster":  {int64(101*second + 10*ms), at(end, 100*time.Second+1000), second + 10*ms},
		"after the read":             {int64(101*second + 26*ms), at(end, 100*time.Second), end},
		"before the first sample":    {int64(101*second - 1), at(end, 100*time.Second), end},
		"stamped, then stepped on":   {int64(101*second + 10*ms), at(end, 200*time.Second), second + 10*ms},
		"stepped on, then stamped":   {int64(201*second + 10*ms), at(end, 200*time.Second), end},
		"stamped, then stepped back": {int64(101*second + 10*ms), at(end, 50*time.Second), end},
		"stepped back, then stamped": {int64(51*second + 10*ms), at(end, 50*time.Second), end},
		"samples too far apart":      {int64(101*second + 10*ms), at(3*second, 100*time.Second), 3 * second},
	} {
		require.Equal(t, c.want, Receipt(c.stamp, before, c.after), name)
	}
}

// A pause between the two readings makes the offset smaller.
func TestAPauseMakesTheOffsetSmaller(t *testing.T) {
	const pause = 20 * time.Millisecond
	began := time.Now()
	c := Of(func() int64 {
		time.Sleep(pause)
		return int64(time.Since(began))
	})
	require.Less(t, c.SampleRealtime().Offset, time.Duration(began.UnixNano())-pause/2)
}

func TestSampleRealtimeIsNeverTooLarge(t *testing.T) {
	w := newWorld(1)
	c := newClock(w)
	s := c.SampleRealtime()
	require.LessOrEqual(t, int64(s.At)+int64(s.Offset), time.Now().UnixNano())

	c, err := New()
	require.NoError(t, err)
	s = c.SampleRealtime()
	h := c.Now()
	require.GreaterOrEqual(t, time.Now().UnixNano()-int64(s.Offset), int64(h), "a stamp made now converts to no earlier than now")
}

func TestStepWatchIsQuietWhileNothingSteps(t *testing.T) {
	w, err := NewStepWatch()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	steps := 0
	for range 100 {
		if w.Stepped() {
			steps++
		}
	}
	require.Less(t, steps, 100, "a real step may happen during the test, but not all the time")
	require.NoError(t, w.Close())
	require.True(t, w.Stepped(), "when nothing is known, the answer is cautious")
}

func TestClosingEndsTheWaitForAStep(t *testing.T) {
	w, err := NewStepWatch()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for w.Wait() { // a real step may happen during the test
		}
	}()
	require.NoError(t, w.Close())
	<-ended
	require.False(t, w.Wait())
}
