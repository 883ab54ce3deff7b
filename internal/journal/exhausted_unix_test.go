//go:build unix

package journal_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
)

// exhaustedSystem requires that a file which cannot be made for lack of descriptors may be made
// later, and that one which is not there for opening is a fault as ever.
func exhaustedSystem(t testing.TB) {
	require.True(t, journal.Passes(syscall.ENFILE))
	require.True(t, journal.Passes(syscall.ENOSPC))
	require.False(t, journal.Passes(syscall.EIO))
	disk := journal.System(t.TempDir())
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: before.Max}))
	_, made := disk.Create("file")
	_, opened := disk.Open("file")
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
	require.ErrorIs(t, made, journal.ErrFull)
	require.ErrorIs(t, made, syscall.EMFILE)
	require.NotContains(t, made.Error(), "full")
	require.ErrorIs(t, opened, syscall.EMFILE)
	require.NotErrorIs(t, opened, journal.ErrFull)
	f, err := disk.Create("file")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
