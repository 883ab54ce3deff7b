package awake

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// device returns a file that replaces the device, with a content.
func device(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cpu_dma_latency")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func TestARequestIsAnIntegerOf32Bits(t *testing.T) {
	path := device(t, nil)
	r, err := HoldFile(path)
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 4), content, "the kernel reads a value of another length as text")
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.file.Close(), os.ErrClosed, "an open file is a request")
	require.NoError(t, (*Request)(nil).Close())
}

func TestRequestsAreIndependent(t *testing.T) {
	path := device(t, nil)
	a, err := HoldFile(path)
	require.NoError(t, err)
	b, err := HoldFile(path)
	require.NoError(t, err)
	require.NoError(t, a.Close())
	_, err = b.file.Stat()
	require.NoError(t, err, "the other's end does not end it")
	require.NoError(t, b.Close())
}

func TestErrorsNameTheDeviceAndWhatIsMissing(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	_, err := HoldFile(absent)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, absent)
	require.ErrorContains(t, err, "container")
	_, err = os.Stat(absent)
	require.ErrorIs(t, err, fs.ErrNotExist, "an ordinary file would hide that the device is missing")

	directory := t.TempDir()
	_, err = HoldFile(directory)
	require.ErrorContains(t, err, directory)

	path := device(t, []byte("as it was"))
	_, err = hold(path, fs.ModeCharDevice)
	require.ErrorContains(t, err, path+" is not a device")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "as it was", string(content))
}

func TestPermissionIsAskedFor(t *testing.T) {
	path := device(t, nil)
	require.NoError(t, os.Chmod(path, 0o400))
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		_ = f.Close()
		t.Skip("this user may write to everything")
	}
	_, err := HoldFile(path)
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "root, or a udev rule")
}

// Other processes may hold the device too, so the state after the end is uncertain.
func TestTheKernelHeedsIt(t *testing.T) {
	if runtime.GOOS != "linux" {
		_, err := Hold()
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "Linux")
		return
	}
	r, err := Hold()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		require.ErrorContains(t, err, Device)
		t.Skip(err)
	}
	require.NoError(t, err)
	f, err := os.Open(Device) // which is a request of its own, without a latency
	require.NoError(t, err)
	defer f.Close()
	value := make([]byte, 4)
	_, err = f.ReadAt(value, 0)
	require.NoError(t, err)
	require.Zero(t, binary.NativeEndian.Uint32(value), "the latency in force, in microseconds")
	require.NoError(t, r.Close())
}

func TestAKernelWithoutADriverIsDoubted(t *testing.T) {
	require.Contains(t, doubt(device(t, []byte("none\n"))), "no cpuidle driver")
	require.Empty(t, doubt(device(t, []byte("haltpoll\n"))))
	require.Empty(t, doubt(filepath.Join(t.TempDir(), "absent")), "a container may not show it")
}
