package trust

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/trust/trusttest"
)

const nobody = trusttest.Nobody

func TestFilesOfOthersAreRefused(t *testing.T) {
	trusttest.NeedRoot(t)
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, 0o600)
	require.NoError(t, os.Chown(file, nobody, nobody))
	_, err := Open(file, os.O_RDWR, 0, Private)
	require.ErrorIs(t, err, ErrUntrusted)
	require.ErrorContains(t, err, "user 65534 owns it")
}

// Root hands a secret to another user by a group that may read it. A user's own secret
// is for that user alone, and so is root's for root.
func TestRootMayLetAGroupReadASecret(t *testing.T) {
	trusttest.NeedRoot(t)
	dir, err := os.MkdirTemp("", "trust") // other users can reach it
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	file := filepath.Join(dir, "file")
	open := func() (err error) {
		trusttest.As(t, nobody, func() {
			f, e := Open(file, os.O_RDONLY, 0, Private)
			if err = e; e == nil {
				err = f.Close()
			}
		})
		return err
	}
	for mode, trusted := range map[os.FileMode]bool{0o440: true, 0o640: true, 0o644: false, 0o660: false} {
		write(t, file, mode)
		require.Equal(t, trusted, open() == nil, "%o", mode)
	}
	write(t, file, 0o640)
	_, err = Open(file, os.O_RDONLY, 0, Private)
	require.ErrorIs(t, err, ErrUntrusted)
	require.NoError(t, os.Chown(file, nobody, 0))
	require.ErrorIs(t, open(), ErrUntrusted)
}

// The group with a user's own number may do what the user may. Kubernetes changes volumes in this
// way each time when it mounts them.
func TestAUsersOwnGroupIsTrusted(t *testing.T) {
	trusttest.NeedRoot(t)
	dir, err := os.MkdirTemp("", "trust")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	const alone = 60321 // that no machine knows: others may be in the group of nobody
	file := filepath.Join(dir, "file")
	write(t, file, 0o600)
	for _, c := range []struct {
		user, group   int
		dirMode, mode os.FileMode
		trusted       bool
	}{
		{alone, alone, 0o775 | os.ModeSetgid, 0o660, true},
		{alone, alone, 0o755, 0o666, false},
		{alone, alone, 0o777, 0o660, false},
		{nobody, 1, 0o775, 0o600, false},
		{nobody, 1, 0o755, 0o660, false},
		{0, 0, 0o755, 0o660, false},
		{0, 0, 0o775, 0o600, false},
	} {
		require.NoError(t, os.Chown(dir, 0, c.group))
		require.NoError(t, os.Chmod(dir, c.dirMode))
		require.NoError(t, os.Chown(file, c.user, c.group))
		require.NoError(t, os.Chmod(file, c.mode))
		var of, in error
		trusttest.As(t, c.user, func() {
			var f *os.File
			if f, of = Open(file, os.O_RDWR, 0, Private); of == nil {
				of = f.Close()
			}
			in = Dir(dir)
		})
		require.Equal(t, c.trusted, of == nil && in == nil, "%+v: %v, %v", c, of, in)
	}
}

func TestTheOwnerOfADirectoryCounts(t *testing.T) {
	trusttest.NeedRoot(t)
	dir := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Chown(dir, nobody, nobody))
	require.ErrorIs(t, Dir(dir), ErrUntrusted)
	require.NoError(t, Dir(dir, nobody))

	// A link leads there from where that user may put anything.
	link := filepath.Join(filepath.Dir(dir), "link")
	require.NoError(t, os.Symlink(dir, link))
	require.NoError(t, Dir(link, nobody))
	require.NoError(t, os.Lchown(link, nobody, nobody))
	require.ErrorIs(t, Dir(link, nobody), ErrUntrusted)
}

// Another user's process at a path that anybody could have taken is refused, and one
// in a directory of its own is not.
func TestTheProcessAtASocketIsChecked(t *testing.T) {
	trusttest.NeedRoot(t)
	for _, c := range []struct {
		name    string
		mode    os.FileMode
		owner   int
		trusted bool
	}{
		{"open", 0o777 | os.ModeSticky, 0, false},
		{"own", 0o755, nobody, true},
	} {
		top, err := os.MkdirTemp("", "trust") // other users can reach it
		require.NoError(t, err)
		defer os.RemoveAll(top)
		require.NoError(t, os.Chmod(top, 0o755))
		dir := filepath.Join(top, c.name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chown(dir, c.owner, c.owner))
		require.NoError(t, os.Chmod(dir, c.mode))
		path := filepath.Join(dir, "s")
		trusttest.Listen(t, path, nobody)
		conn, err := net.Dial("unix", path)
		require.NoError(t, err)
		defer conn.Close()
		if err := Peer(conn, path); c.trusted {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorIs(t, err, ErrUntrusted, c.name)
			require.ErrorContains(t, err, "user 65534 answers")
		}
	}
}
