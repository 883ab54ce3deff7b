package journal_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
)

// open opens a file that Linux alone has.
func open(t testing.TB, name string) *os.File {
	if runtime.GOOS != "linux" {
		t.Skip("the files that refuse are those of Linux")
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// systemRefuses asks for what no system does with these files. One that was never asked would
// not refuse.
func systemRefuses(t testing.TB) {
	null := journal.SystemFile(open(t, os.DevNull))
	require.ErrorIs(t, null.Sync(), syscall.EINVAL)
	require.ErrorIs(t, journal.System("/proc").Sync(), syscall.EINVAL)
	_, err := journal.System(os.DevNull).List()
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

// Tests of all else have a disk in memory.
func TestTheSystemIsAsked(t *testing.T) { systemRefuses(t) }

// fullSystem requires that a write which finds no room may be tried again, whether a disk or a
// quota has no more, and that no other may.
func fullSystem(t testing.TB) {
	_, err := journal.SystemFile(open(t, "/dev/full")).WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, journal.ErrFull)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, journal.Classify(syscall.EDQUOT), journal.ErrFull)
	require.NotErrorIs(t, journal.Classify(syscall.EIO), journal.ErrFull)
}

func TestNoRoomIsNoFault(t *testing.T) { fullSystem(t) }

func TestALackOfDescriptorsIsNoFault(t *testing.T) { exhaustedSystem(t) }

func TestALackOfDescriptorsPasses(t *testing.T) { exhaustedRotation(t) }

// failedFlushes requires that a flush which finds no room is not tried again: what it has not
// written may be gone from the memory of the system, and the next flush succeeds.
func failedFlushes(t testing.TB) {
	for _, why := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		err := journal.FailingFile(nil, why).Sync()
		require.ErrorIs(t, err, why)
		require.NotErrorIs(t, err, journal.ErrFull)
	}
}

func TestAFlushWithoutRoomIsAFault(t *testing.T) { failedFlushes(t) }
