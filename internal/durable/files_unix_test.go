//go:build unix

package durable

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/trust"
)

// A file that people look after keeps its mode, whatever that is. A new one is for its owner.
func TestAReplacedFileKeepsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, mode := range []os.FileMode{0, 0o600, 0o640, 0o644, 0o400} {
		if mode != 0 {
			require.NoError(t, os.Chmod(path, mode))
		}
		require.NoError(t, Replace(path, []byte(mode.String())))
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, mode.String(), string(b))
		i, err := os.Stat(path)
		require.NoError(t, err)
		if mode == 0 {
			mode = fileMode
		}
		require.Equal(t, mode, i.Mode())
	}
}

// A file that root replaces stays its owner's and its group's.
func TestAReplacedFileKeepsItsOwnerAndItsGroup(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for _, owner := range [][2]int{{12345, 0}, {12345, 23456}, {0, 23456}, {0, 0}} {
		require.NoError(t, os.Chown(path, owner[0], owner[1]))
		require.NoError(t, Replace(path, []byte("new")))
		i, err := os.Stat(path)
		require.NoError(t, err)
		s := i.Sys().(*syscall.Stat_t)
		require.Equal(t, owner, [2]int{int(s.Uid), int(s.Gid)})
	}
}

// replacedAfterACrash has a crash leave the successor of a file that others may read: the next
// one replaces it.
func replacedAfterACrash(t testing.TB) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path+next, []byte("half"), 0o644))
	require.NoError(t, os.Chmod(path+next, 0o644))
	require.NoError(t, Replace(path, []byte("whole")))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "whole", string(b))
}

func TestACrashIsNotInTheWayOfAReplacement(t *testing.T) { replacedAfterACrash(t) }

// A special file or a link in the place of a file is neither followed, nor waited for,
// nor changed.
func TestOtherFilesInTheirPlaceAreRefused(t *testing.T) {
	k := Kind{Name: "test", Version: 1}
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("precious"), 0o600))
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	require.NoError(t, os.Symlink(other, link))
	require.NoError(t, os.Symlink(other, filepath.Join(dir, "record"+next)))
	require.NoError(t, unix.Mkfifo(pipe, 0o600))

	require.ErrorIs(t, Write(filepath.Join(dir, "record"), k, nil), syscall.ELOOP)
	for _, path := range []string{link, pipe} {
		_, err := Read(path, k)
		require.Error(t, err, path)
		_, err = TakeLock(path)
		require.Error(t, err, path)
	}
	b, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "precious", string(b))

	open := filepath.Join(dir, "open")
	require.NoError(t, Write(open, k, []byte("x")))
	require.NoError(t, os.Chmod(open, 0o602))
	_, err = Read(open, k)
	require.ErrorIs(t, err, trust.ErrUntrusted)
}

// fullIsUnchanged has each call of a write fail for lack of room or of open files. Only where the
// old record is sure to be there, the write may be tried again: after a flush of the directory
// that failed, another one might succeed without the name.
func fullIsUnchanged(t testing.TB) {
	const path = "dir/record"
	for _, lack := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.EIO} {
		for failing := 1; failing <= 7; failing++ {
			d := &once{newForgetful(path, []byte("old"), 100), lack, 0, failing}
			err := write(d, path, []byte("new"))
			require.ErrorIs(t, err, lack)
			require.ErrorContains(t, err, lack.Error())
			require.Equal(t, lack != syscall.EIO && failing < 7, errors.Is(err, ErrFull), "%v, call %d", lack, failing)
		}
	}
}

func TestALackOfRoomChangesNothing(t *testing.T) { fullIsUnchanged(t) }
