package durable

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// flushIsAsked flushes the names of a directory that no system can flush. One that was never
// asked would not refuse.
func flushIsAsked(t testing.TB) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc is a directory of Linux")
	}
	require.ErrorIs(t, SyncDir("/proc"), syscall.EINVAL)
}

// Tests of all else have a disk in memory.
func TestTheSystemIsAsked(t *testing.T) { flushIsAsked(t) }
