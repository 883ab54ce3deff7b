package durable

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALockHasOneOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := TakeLock(path)
	require.NoError(t, err)
	_, err = TakeLock(path)
	require.ErrorIs(t, err, ErrLocked)
	other, err := TakeLock(path + "2")
	require.NoError(t, err)
	require.NoError(t, other.Release())
	require.NoError(t, l.Release())
	require.NoError(t, l.Release(), "again")
	require.NoError(t, (*Lock)(nil).Release())
	l, err = TakeLock(path)
	require.NoError(t, err)
	require.NoError(t, l.Release())
	_, err = TakeLock(filepath.Join(path, "under"))
	require.Error(t, err)
	_, err = TakeLock(filepath.Join(path+"-none", "lock"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
