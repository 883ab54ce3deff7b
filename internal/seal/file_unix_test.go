//go:build unix

package seal

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files that other users can read, change or replace are refused.
func TestFilesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "keys")
	require.NoError(t, ring(t, NewKey()).CreateFile(path))
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := ReadFile(path)
		require.ErrorContains(t, err, "another user controls it", "%o", mode)
	}
	require.NoError(t, os.Chmod(path, 0o400))
	_, err := ReadFile(path)
	require.NoError(t, err)

	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(path, link))
	_, err = ReadFile(link)
	require.Error(t, err)
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = ReadFile(pipe)
	require.ErrorContains(t, err, "not a regular file")

	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = ReadFile(path)
	require.ErrorContains(t, err, "lets others write")
}

// Root changes the keys of a service, whose group can read the file: the service still
// can afterwards. A file that a crash has left does not stand in the way.
func TestAChangedFileKeepsItsOwnerAndMode(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	const service = 65533 // no user of this machine
	for _, owner := range []int{0, service} {
		path := filepath.Join(dir, "keys")
		require.NoError(t, ring(t, NewKey()).CreateFile(path))
		require.NoError(t, os.Chown(path, owner, service))
		require.NoError(t, os.Chmod(path, 0o440))
		require.NoError(t, os.WriteFile(path+".new", []byte("left by a crash"), 0o600))
		require.NoError(t, os.Chown(path+".new", service, service))

		require.NoError(t, ring(t, NewKey()).WriteFile(path))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o440), info.Mode().Perm())
		at := info.Sys().(*syscall.Stat_t)
		require.Equal(t, [2]uint32{uint32(owner), service}, [2]uint32{at.Uid, at.Gid})
		require.NoError(t, os.Remove(path))
	}
}
