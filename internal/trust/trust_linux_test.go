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
