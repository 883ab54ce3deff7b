package outputs

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync/serve"
)

// When the segment cannot be made, the NTP server ends too: its address is free for the next attempt.
func failedStartLeavesNothing(t testing.TB) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := c.LocalAddr().String()
	require.NoError(t, c.Close())
	_, err = Start(context.Background(), Config{Listen: addr, Path: filepath.Join(t.TempDir(), "none", "x", "segment")}, func() (a serve.Answer) { return a })
	require.ErrorContains(t, err, "ClockBound.Path")
	c, err = net.ListenPacket("udp", addr)
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestAFailedStartLeavesNothing(t *testing.T) { failedStartLeavesNothing(t) }
