package client

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const nobody = 65534

// listenAs listens at a unix socket as another user does. It needs root.
func listenAs(t *testing.T, path string, user int) net.Listener {
	t.Helper()
	runtime.LockOSThread() // Linux keeps users for each thread
	become := func(user int) {
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(user), ^uintptr(0))
		require.Zero(t, errno)
	}
	become(user)
	l, err := net.Listen("unix", path)
	become(0)
	runtime.UnlockOSThread()
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// bytesOf accepts one connection, and sends 1 if a byte comes over it, and otherwise 0.
func bytesOf(l net.Listener) <-chan int {
	read := make(chan int, 1)
	go func() {
		n := 0
		if c, err := l.Accept(); err == nil {
			n, _ = c.Read(make([]byte, 1))
			_ = c.Close()
		}
		read <- n
	}()
	return read
}

// A socket that another user has put where anybody can put one is asked nothing, by this client
// and by the example for Python. One in a directory of the user who answers is.
func TestASquattedSocketIsAskedNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	interpreter, noPython := exec.LookPath("python3")
	for mode, trusted := range map[os.FileMode]bool{0o755: true, 0o777 | os.ModeSticky: false, 0o775: false} {
		dir, err := os.MkdirTemp("", "fa")
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		require.NoError(t, os.Chown(dir, nobody, 1))
		require.NoError(t, os.Chmod(dir, mode))
		path := filepath.Join(dir, "s")
		l := listenAs(t, path, nobody)
		read := bytesOf(l)
		c, err := New(Unix(path))
		require.NoError(t, err)
		_, err = c.GetLeaderWithResponse(t.Context())
		require.Error(t, err, "it answers nothing")
		if trusted {
			require.NotErrorIs(t, err, ErrUntrusted)
			require.Equal(t, 1, <-read)
		} else {
			require.ErrorIs(t, err, ErrUntrusted)
			require.ErrorContains(t, err, path)
			require.Zero(t, <-read)
		}
		if noPython != nil {
			t.Log("python3 is not installed: the example is not run")
			continue
		}
		read = bytesOf(l)
		out, err := exec.Command(interpreter, "../python/failaware_client.py", path).CombinedOutput()
		require.Error(t, err)
		if trusted {
			require.NotContains(t, string(out), "trusted")
			require.Equal(t, 1, <-read)
		} else {
			require.Equal(t, "failaware_client: user 65534 answers at "+path+", and is not to be trusted there: others control "+dir+"\n", string(out))
			require.Zero(t, <-read)
		}
	}
}

// Links on the way belong to root or to the user of this process, and so do directories above.
func TestEveryDirectoryOnTheWayCounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	top, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	require.NoError(t, os.Chmod(top, 0o755))
	inner, link := filepath.Join(top, "inner"), filepath.Join(top, "link")
	require.NoError(t, os.Mkdir(inner, 0o755))
	require.NoError(t, os.Symlink(inner, link))
	require.NoError(t, checkDir(inner, nobody))
	require.NoError(t, checkDir(link, nobody))
	require.NoError(t, os.Lchown(link, nobody, nobody))
	require.ErrorIs(t, checkDir(link, nobody), ErrUntrusted)
	require.NoError(t, os.Chown(inner, nobody, nobody))
	require.NoError(t, checkDir(inner, nobody))
	require.ErrorIs(t, checkDir(inner, nobody-1), ErrUntrusted)
	require.NoError(t, os.Chmod(top, 0o777))
	require.ErrorIs(t, checkDir(inner, nobody), ErrUntrusted)
	require.NoError(t, os.Chmod(top, 0o777|os.ModeSticky))
	require.NoError(t, checkDir(inner, nobody))
	require.ErrorIs(t, checkDir(filepath.Join(top, "none"), nobody), os.ErrNotExist)
}
