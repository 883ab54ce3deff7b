// Package trusttest lets tests meet other users of the machine.
package trusttest

import (
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Nobody is a user without rights.
const Nobody = 65534

// NeedRoot skips a test unless root runs it.
func NeedRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
}

// As calls f as another user, whose group is root's. It needs root.
func As(t *testing.T, user int, f func()) {
	t.Helper()
	NeedRoot(t)
	// Linux keeps users for each thread, and package syscall would change all of
	// them. The thread that stays another user's must not run other goroutines.
	runtime.LockOSThread()
	become := func(user int) {
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(user), ^uintptr(0))
		require.Zero(t, errno)
	}
	become(user)
	f()
	become(0)
	runtime.UnlockOSThread()
}

// Listen listens at a unix socket as another user does: the socket's file and its
// credentials are that user's. It needs root.
func Listen(t *testing.T, path string, user int) net.Listener {
	t.Helper()
	var l net.Listener
	var err error
	As(t, user, func() { l, err = net.Listen("unix", path) })
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}
