package engine

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
)

// partsStay has processes end that have received parts of snapshots. The next one finds the
// largest, and removes what it does not use.
func partsStay(t testing.TB) {
	dir := t.TempDir()
	var c replica.Config
	files := func() int {
		list, err := filepath.Glob(filepath.Join(dir, partPrefix+"*"))
		require.NoError(t, err)
		return len(list)
	}
	s := NewSpool(dir, 10, true)
	require.Nil(t, s.Part(&c))
	for _, text := range []string{"short", "a part that does not fit", "a larger part that does not fit", "some part of it"} {
		b := s.NewPart()
		require.NoError(t, b.Append([]byte(text[:5])))
		require.NoError(t, b.Append([]byte(text[5:])))
	}
	runtime.GC() // an earlier process of this program may be gone
	other := s.NewBytes()
	require.NoError(t, other.Append(make([]byte, 100)))
	require.NoError(t, os.Mkdir(filepath.Join(dir, partPrefix+"7"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, partPrefix+"of.somebody"), make([]byte, 1000), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, partPrefix+"8"), make([]byte, 1000), 0o600))
	c.MaxSnapshot = 999
	require.Equal(t, 3+3, files(), "what is short is in memory")

	part := NewSpool(dir, 10, true).Part(&c)
	require.Equal(t, 1+2, files())
	b, err := io.ReadAll(part.Reader())
	require.NoError(t, err)
	require.Equal(t, "a larger part that does not fit", string(b))
	_, err = part.Write([]byte("!")) // an incarnation goes on with it
	require.NoError(t, err)
	require.Nil(t, NewSpool(dir, 10, false).Part(&c), "the directory may be that of several nodes")
	part.Discard()
	require.Equal(t, 2, files())
	require.NoError(t, os.WriteFile(filepath.Join(dir, partPrefix+"9"), nil, 0o600))
	RemoveParts(dir)
	require.Equal(t, 2, files())
}

func TestPartsOutliveTheProcess(t *testing.T) { partsStay(t) }

// fullDropsParts has the disk of a log run full that also has a part of a snapshot. The log is what
// needs the room.
func fullDropsParts(t testing.TB) {
	dir := t.TempDir()
	spool := NewSpool(dir, 10, true)
	part := spool.NewPart()
	require.NoError(t, part.Append(make([]byte, 100)))
	j, err := journal.OpenOn(disktest.New(), journal.Options{})
	require.NoError(t, err)
	s, err := newStore(j, &words{}, keep.Options{})
	require.NoError(t, err)
	var c replica.Config
	s.part = spool.Part(&c)
	require.NotNil(t, s.part)
	e, err := New(c, nil, &words{}, s, nil, nil)
	require.NoError(t, err)
	i := newIncarnation(e, Incarnation{})
	files := func() int { return len(parts(dir)) }
	s.onFull(nil)
	i.stored(nil)
	require.Equal(t, 1, files(), "it has room again")
	s.onFull(errors.New("no space left"))
	i.stored(nil)
	require.Zero(t, files())
	require.NoError(t, s.Close())
}

func TestAFullDiskDropsWhatIsNotNeeded(t *testing.T) { fullDropsParts(t) }
