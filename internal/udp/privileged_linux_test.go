package udp

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// bindUnprivileged takes from the present thread, which ends with the test, the right to listen at
// low ports.
func bindUnprivileged(t *testing.T) {
	runtime.LockOSThread()
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	require.NoError(t, unix.Capget(&h, &has[0]))
	has[0].Effective &^= 1 << unix.CAP_NET_BIND_SERVICE
	require.NoError(t, unix.Capset(&h, &has[0]))
}

func TestAPortOfTheSystemIsRefusedWithTheRemedy(t *testing.T) {
	bindUnprivileged(t)
	c, err := Listen("127.0.0.1:1", testClock(), Options{})
	if err == nil {
		require.NoError(t, c.Close())
		t.Skip("any user may listen at low ports here")
	}
	require.ErrorIs(t, err, syscall.EACCES)
	require.EqualError(t, err, "udp: this user may not listen at 127.0.0.1:1: a port below 1024 needs CAP_NET_BIND_SERVICE or root")
}
