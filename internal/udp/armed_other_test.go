//go:build !linux

package udp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// The deadline of a wait stays for later ones, until it has expired or is too late for one of them.
func TestADeadlineIsArmedUnlessItIsEarlyEnough(t *testing.T) {
	s, now := listen(t, "127.0.0.1:0", Options{}).sock, timed.Instant(time.Hour)
	for _, x := range []struct{ after, deadline, armed time.Duration }{
		{0, time.Hour, time.Hour},
		{0, time.Minute, time.Minute},
		{0, time.Hour, time.Minute},
		{time.Minute, time.Hour, time.Hour},
	} {
		require.NoError(t, s.arm(now.Add(x.after), now.Add(x.deadline)))
		require.Equal(t, now.Add(x.armed), s.armed, "%v", x)
	}
	require.NoError(t, s.arm(now, timed.Never))
	require.Equal(t, now.Add(time.Hour), s.armed)
	require.NoError(t, s.arm(now.Add(time.Hour), timed.Never))
	require.Equal(t, timed.Never, s.armed)
}

// A wake comes between the look at the wakes and the deadline, which hides its own.
func TestADeadlineHidesNoWake(t *testing.T) {
	c := listen(t, "127.0.0.1:0", Options{})
	c.signals.woken.Store(true)
	n, err := c.sock.wait(room(1), c.clock.Now(), timed.Never, &c.signals)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, unarmed, c.sock.armed)
}
