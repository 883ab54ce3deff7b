package failaware

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/awake"
)

// awakeDevice has a file stand for the device for the rest of the test.
func awakeDevice(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "cpu_dma_latency")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	holdFrom(t, path)
	return path
}

func holdFrom(t *testing.T, path string) {
	t.Helper()
	usual := holdAwake
	t.Cleanup(func() { holdAwake = usual })
	holdAwake = func() (*awake.Request, error) { return awake.HoldFile(path) }
}

// openHere counts the descriptors of this process for a file: the kernel takes each
// for a request.
func openHere(t *testing.T, path string) (count int) {
	t.Helper()
	const descriptors = "/proc/self/fd"
	list, err := os.ReadDir(descriptors)
	require.NoError(t, err)
	for _, d := range list {
		if to, err := os.Readlink(filepath.Join(descriptors, d.Name())); err == nil && to == path {
			count++
		}
	}
	return count
}

// What does not end well at the end of a node is why it ended.
func TestReleaseFailures(t *testing.T) {
	path := awakeDevice(t)
	var held *awake.Request
	holdAwake = func() (r *awake.Request, err error) {
		held, err = awake.HoldFile(path)
		return held, err
	}
	n := startNode(t, Config{ID: 1, Awake: true})
	require.NoError(t, held.Close())
	require.NoError(t, n.Close())
	require.ErrorIs(t, n.Err(), fs.ErrClosed)
}

func TestProcessorsAreKeptAwakeWhileANodeRuns(t *testing.T) {
	path := awakeDevice(t)
	asleep := startNode(t, Config{ID: 1})
	require.Zero(t, openHere(t, path), "it is off by default")
	require.False(t, asleep.Status().Awake)

	first, second := startNode(t, Config{ID: 2, Awake: true}), startNode(t, Config{ID: 3, Awake: true})
	require.Equal(t, 2, openHere(t, path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 4), content)
	require.True(t, first.Status().Awake)

	require.NoError(t, first.Close())
	require.False(t, first.Status().Awake)
	require.Equal(t, 1, openHere(t, path), "one node's end is not the other's")
	require.True(t, second.Status().Awake)
	require.NoError(t, second.Leave(t.Context()))
	require.Zero(t, openHere(t, path))
}

func TestANodeThatCannotKeepProcessorsAwakeDoesNotStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent")
	holdFrom(t, path)
	_, err := Start(t.Context(), Config{ID: 1, Awake: true})
	require.ErrorIs(t, err, ErrAwake)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "Awake: ")
	require.ErrorContains(t, err, path)
}

func TestANodeThatDoesNotStartKeepsNothingAwake(t *testing.T) {
	path := awakeDevice(t)
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	dir := t.TempDir()
	other := startNode(t, Config{ID: 1, StateDir: dir})
	require.Equal(t, NodeID(1), other.ID())
	for want, cfg := range map[error]Config{
		syscall.EADDRINUSE: {ID: 2, Awake: true, Listen: taken.LocalAddr().String()},
		ErrInUse:           {ID: 1, Awake: true, StateDir: dir},
		ErrServeTime:       {ID: 2, Awake: true, NTP: &NTPConfig{Listen: taken.LocalAddr().String()}},
	} {
		_, err = Start(t.Context(), cfg)
		require.ErrorIs(t, err, want)
		require.Zero(t, openHere(t, path), want)
	}
}
