package failaware

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A node whose state cannot be written does not start, and leaves its address for the next attempt.
func failedBeginLeavesNothing(t testing.TB) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := c.LocalAddr().String()
	require.NoError(t, c.Close())
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "node-1.state.new"), 0o700)) // in the way of the file
	for range 2 {
		_, err = Start(t.Context(), Config{ID: 1, Listen: addr, StateDir: dir})
		require.ErrorContains(t, err, "cannot write the state")
	}
	c, err = net.ListenPacket("udp", addr)
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

func TestAStateThatCannotBeWrittenLeavesNoSocket(t *testing.T) { failedBeginLeavesNothing(t) }
