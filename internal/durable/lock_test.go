package durable

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// rivals has a process open the file of a lock that another one then releases. It has the lock
// afterwards, and nobody else does: all lock one file.
func rivals(t testing.TB) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TakeLock(path)
	require.NoError(t, err)
	waits, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer waits.Close()
	require.ErrorIs(t, lock(waits), ErrLocked)
	require.NoError(t, first.Release())
	require.NoError(t, lock(waits))
	_, err = TakeLock(path)
	require.ErrorIs(t, err, ErrLocked)
}

func TestRivalsLockOneFile(t *testing.T) { rivals(t) }

// Who waits for a lock gets it soon after its release, and does not wait for ever.
func TestALockIsAwaitedForAWhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := TakeLock(path)
	require.NoError(t, err)
	late := time.AfterFunc(5*time.Second, func() { _ = held.Release() })
	_, err = AwaitLock(path, 30*time.Millisecond)
	require.ErrorIs(t, err, ErrLocked)
	require.True(t, late.Stop())
	time.AfterFunc(30*time.Millisecond, func() { _ = held.Release() })
	l, err := AwaitLock(path, time.Minute)
	require.NoError(t, err)
	require.NoError(t, l.Release())
}
