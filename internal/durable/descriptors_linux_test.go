package durable

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever succeeds and whatever fails, nothing stays open: a node writes for years. Without the
// collector, which closes files that are forgotten.
func TestNothingStaysOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(list)
	}
	dir := t.TempDir()
	path, way := filepath.Join(dir, "record"), filepath.Join(dir, "in-the-way")
	require.NoError(t, os.MkdirAll(filepath.Join(way, "full"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "half.new"), 0o700))
	held, err := TakeLock(filepath.Join(dir, "lock"))
	require.NoError(t, err)
	before := open()
	for range 10 {
		require.NoError(t, Write(path, kind, []byte("content")))
		require.NoError(t, Replace(filepath.Join(dir, "file"), []byte("content")))
		_, err := Read(path, kind)
		require.NoError(t, err)
		_, err = Read(path, Kind{Name: "other"})
		require.Error(t, err)
		require.Error(t, Write(way, kind, nil), "it cannot be renamed")
		require.Error(t, Write(filepath.Join(dir, "half"), kind, nil), "it cannot be made")
		require.Error(t, Replace(way, nil))
		require.Error(t, Create(path, nil))
		require.NoError(t, Remove(filepath.Join(dir, "file")))
		_, err = TakeLock(held.file.Name())
		require.ErrorIs(t, err, ErrLocked)
		l, err := TakeLock(filepath.Join(dir, "another"))
		require.NoError(t, err)
		require.NoError(t, l.Release())
	}
	require.Equal(t, before, open())
	require.NoError(t, held.Release())
}
