package seal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "keys")
	r := ring(t, NewKey(), NewKey())
	require.NoError(t, r.CreateFile(path))
	require.ErrorIs(t, r.CreateFile(path), os.ErrExist)
	back, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, r.IDs(), back.IDs())
	r, err = r.Use(r.IDs()[1])
	require.NoError(t, err)
	require.NoError(t, r.WriteFile(path))
	back, err = ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, r.IDs(), back.IDs())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)

	_, err = ReadFile(filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "the key file "+dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A part of a long file would lack keys.
func TestLongFilesAreRefused(t *testing.T) { longFilesAreRefused(t) }

func longFilesAreRefused(t testing.TB) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "keys")
	k := NewKey()
	text := k.Text() + "\n#" + strings.Repeat("x", maxFile)
	require.NoError(t, os.WriteFile(path, []byte(text[:maxFile]), 0o600))
	_, err := ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(text[:maxFile+1]), 0o600))
	_, err = ReadFile(path)
	require.ErrorContains(t, err, "more than 65536 bytes")
}

// Each of two changes of a file begins with what the other has left.
func TestAFileIsChangedByOneAtATime(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "keys")
	require.NoError(t, ring(t, NewKey()).CreateFile(path))
	install := func(r *Ring) (*Ring, error) { return r.Install(NewKey()) }
	synctest.Test(t, func(t *testing.T) {
		began, others := time.Now(), make(chan error)
		require.NoError(t, ChangeFile(path, func(r *Ring) (*Ring, error) {
			require.ErrorIs(t, ChangeFile(path, install), errBusy)
			require.Equal(t, lockPatience, time.Since(began))
			go func() { others <- ChangeFile(path, install) }()
			time.Sleep(lockPatience / 2)
			return r.Install(NewKey())
		}))
		require.NoError(t, <-others)
	})
	r, err := ReadFile(path)
	require.NoError(t, err)
	require.Len(t, r.IDs(), 3)

	require.ErrorIs(t, ChangeFile(path, func(*Ring) (*Ring, error) { return nil, os.ErrInvalid }), os.ErrInvalid)
	require.ErrorIs(t, ChangeFile(filepath.Join(dir, "none"), install), os.ErrNotExist)
	require.ErrorContains(t, ChangeFile(filepath.Join(dir, "none", "keys"), install), "the key file "+dir)
	again, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, r.IDs(), again.IDs())
}

// A change that could not be written is no change.
func TestAChangeThatIsNotWrittenIsToldSo(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "keys")
	r := ring(t, NewKey())
	require.NoError(t, r.CreateFile(path))
	require.NoError(t, os.MkdirAll(path+".new/in the way", 0o700)) // of the new file
	err := ChangeFile(path, func(r *Ring) (*Ring, error) { return r.Install(NewKey()) })
	require.ErrorContains(t, err, "the key file "+path)
	is, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, r.IDs(), is.IDs())
}

func TestFaultsOfFiles(t *testing.T) {
	key := func() string { k := NewKey(); return k.Text() + "\n" }
	same := key()
	for want, text := range map[string]string{
		"there is no key":                   "# nothing\n\n",
		"line 2: a key begins with":         "# one\nsecret\n",
		"line 1: the key is not base64":     mark + "????\n",
		"line 2: the key is not base64":     "\n" + mark + strings.Repeat("A", 42) + "B\n", // with bits of no byte
		"line 3: the key has 3 bytes":       key() + "\n" + mark + "AAAA\n",
		"is there twice":                    same + same,
		"4 keys are more than 3":            key() + key() + key() + key(),
		"line 1: a key begins with \"faila": strings.Repeat("x", 100),
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := Parse("  " + strings.TrimSpace(same) + "\r\n")
	require.NoError(t, err)
}
