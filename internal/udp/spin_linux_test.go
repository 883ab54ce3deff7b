package udp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestExpectedPacketsAreReadWithoutWaiting(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
	sent := make(chan error, 1)
	b.Expect(time.Hour)
	go func() {
		time.Sleep(time.Millisecond)
		_, err := a.WriteBatch([]Packet{packetTo(b.LocalAddr(), "an answer")})
		sent <- err
	}()
	in := room(1)
	n, err := b.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "an answer", string(in[0].Buf))
	require.False(t, b.Waited())
	require.NoError(t, <-sent)

	for d := time.Millisecond; !b.Waited() && d < 10*time.Second; d *= 4 { // a busy machine is late for a short deadline
		n, err = b.ReadBatch(in, testClock().Now().Add(d))
		require.NoError(t, err)
		require.Zero(t, n)
	}
	require.True(t, b.Waited(), "Expect applies to one call")
}

func TestAWakeAndTheDeadlineEndASpin(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	c.Expect(time.Hour)
	go func() {
		time.Sleep(time.Millisecond)
		c.Wake()
	}()
	n, err := c.ReadBatch(room(1), timed.Never)
	require.NoError(t, err)
	require.Zero(t, n)
	require.False(t, c.Waited())

	c.Expect(time.Hour)
	deadline := testClock().Now().Add(time.Millisecond)
	n, err = c.ReadBatch(room(1), deadline)
	require.NoError(t, err)
	require.Zero(t, n)
	require.False(t, c.Waited())
	require.GreaterOrEqual(t, testClock().Now(), deadline)
}

// An expectation ends even if its packets have already come.
func TestAnExpectationIsOverWithItsCall(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Options{}), listen(t, "127.0.0.1:0", Options{})
	_, err := a.WriteBatch([]Packet{packetTo(b.LocalAddr(), "here")})
	require.NoError(t, err)
	b.Expect(time.Hour)
	in := room(1)
	n, err := b.ReadBatch(in, timed.Never)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = b.ReadBatch(in, testClock().Now().Add(time.Millisecond))
	require.NoError(t, err)
	require.True(t, b.Waited())
}
