package api

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// askForBusySocket asks for the socket of a process that lives, and has taken so few connections
// that there is no room for another one. stays reports whether the socket is still that one.
func askForBusySocket(t testing.TB) (stays bool, err error) {
	path := filepath.Join(t.TempDir(), "api")
	open := func() int {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	at := &unix.SockaddrUnix{Name: path}
	server := open()
	require.NoError(t, unix.Bind(server, at))
	require.NoError(t, unix.Listen(server, 0))
	for err == nil {
		err = unix.Connect(open(), at)
	}
	require.ErrorIs(t, err, unix.EAGAIN)
	before, err := os.Lstat(path)
	require.NoError(t, err)

	l, err := ListenUnix(path)
	if err == nil {
		_ = l.Close()
	}
	after, gone := os.Lstat(path)
	return gone == nil && os.SameFile(before, after), err
}

// The socket of a busy process is not that of a dead one.
func TestBusySocketsStay(t *testing.T) {
	stays, err := askForBusySocket(t)
	require.ErrorIs(t, err, unix.EAGAIN)
	require.True(t, stays)
}
