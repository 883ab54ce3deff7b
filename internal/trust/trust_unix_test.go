//go:build unix

package trust

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// longEnough ends a test that hangs.
const longEnough = time.Minute

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte("x"), mode))
	require.NoError(t, os.Chmod(path, mode))
}

func TestOnlyFilesOfThisUserAreOpened(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	open := func(p Privacy) error {
		f, err := Open(file, os.O_RDONLY, 0, p)
		if err == nil {
			require.NoError(t, f.Close())
		}
		return err
	}
	write(t, file, 0o600)
	require.NoError(t, open(Private))
	write(t, file, 0o644)
	require.NoError(t, open(Public))
	require.ErrorIs(t, open(Private), ErrUntrusted)
	write(t, file, 0o620)
	require.ErrorIs(t, open(Public), ErrUntrusted)
	require.ErrorContains(t, open(Public), file)

	link := filepath.Join(dir, "link")
	write(t, file, 0o600)
	require.NoError(t, os.Symlink(file, link))
	_, err := Open(link, os.O_RDONLY, 0, Private)
	require.ErrorIs(t, err, syscall.ELOOP)
	require.EqualError(t, err, "open "+link+": it is a symbolic link, and links are not followed")
	_, err = Open(link, os.O_RDWR|os.O_CREATE, 0o600, Private)
	require.ErrorIs(t, err, syscall.ELOOP)

	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	opened := make(chan error, 1)
	go func() {
		_, err := Open(pipe, os.O_RDONLY, 0, Private)
		opened <- err
	}()
	select {
	case err = <-opened:
		require.ErrorContains(t, err, "not a regular file")
	case <-time.After(longEnough):
		writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // ends the wait
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		<-opened
		require.Fail(t, "it waits for a writer")
	}
	_, err = Open(dir, os.O_RDONLY, 0, Public)
	require.ErrorContains(t, err, "not a regular file")

	// The files of anybody count where their content is checked otherwise.
	require.NoError(t, os.Chmod(file, 0o666))
	f, err := OpenRegular(link)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = OpenRegular(pipe)
	require.EqualError(t, err, "open "+pipe+": it is not a regular file")
	_, err = OpenRegular(dir)
	require.ErrorContains(t, err, "not a regular file")
}

func TestDirectoriesThatOthersCanWriteAreRefused(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, Dir(dir))
	require.NoError(t, os.Chmod(dir, 0o777))
	require.ErrorIs(t, Dir(dir), ErrUntrusted)
	require.NoError(t, os.Chmod(dir, 0o777|os.ModeSticky))
	require.ErrorIs(t, Dir(dir), ErrUntrusted, "others can put files there")
	below := filepath.Join(dir, "b")
	require.NoError(t, os.Mkdir(below, 0o700))
	require.NoError(t, Dir(below), "others cannot replace it")
	require.NoError(t, os.Chmod(dir, 0o777))
	require.ErrorIs(t, Dir(below), ErrUntrusted, "others can replace it")
	require.ErrorContains(t, Dir(below), dir+":")
	link := filepath.Join(top, "link")
	require.NoError(t, os.Symlink(below, link))
	require.ErrorIs(t, Dir(link), ErrUntrusted, "others can replace what the link leads to")
	file := filepath.Join(top, "file")
	write(t, file, 0o600)
	require.ErrorContains(t, Dir(file), "not a directory")
	require.ErrorIs(t, Dir(filepath.Join(top, "none")), os.ErrNotExist)
}

func TestOnesOwnProcessIsTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, Peer(conn, path))
}
