package statedir

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func TestIncarnationsAreCounted(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(dir, 1, time.Second)
	require.NoError(t, err)
	_, err = Open(dir, 1, time.Second)
	require.ErrorIs(t, err, ErrInUse)
	other, err := Open(dir, 2, time.Second)
	require.NoError(t, err, "nodes may share a directory")
	require.NoError(t, other.Close())
	require.EqualValues(t, 1, d.Incarnation())
	require.NoError(t, d.Count())
	require.EqualValues(t, 2, d.Incarnation())
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "again")

	d, err = Open(dir, 1, time.Millisecond)
	require.NoError(t, err)
	require.EqualValues(t, 3, d.Incarnation())
	require.Equal(t, time.Second, d.Earlier(), "the votes of the earlier process are longer")
	require.NoError(t, d.Lower(time.Millisecond))
	require.NoError(t, d.Lower(time.Minute), "it never becomes longer")
	require.NoError(t, d.Close())
	require.NoError(t, d.Lower(1), "nothing is written once it is closed")
	d, err = Open(dir, 1, 0)
	require.NoError(t, err)
	require.Equal(t, time.Millisecond, d.Earlier())
	require.NoError(t, d.Close())
}

func TestNothingOutlivesANodeWithoutADirectory(t *testing.T) {
	var d *Dir
	require.Zero(t, d.Incarnation())
	require.Zero(t, d.Earlier())
	require.NoError(t, d.Count())
	s, err := d.ReadEpoch(Configured{Epoch: 1})
	require.NoError(t, err)
	require.Nil(t, s)
	require.NoError(t, d.Close())
}

func TestDamagedStateIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "node-1.state")
	refused := func() {
		t.Helper()
		_, err := Open(dir, 1, time.Second)
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, path)
	}
	for _, content := range []string{"", "junk", format(2, record{1, time.Second}), format(1, record{math.MaxUint64, time.Second}),
		format(1, record{1, 2 * timed.MaxDuration}), format(1, record{1, time.Second}) + "x"} {
		require.NoError(t, durable.Write(path, recordKind, []byte(content)))
		refused()
	}
	require.NoError(t, os.WriteFile(path, []byte("junk"), 0o600))
	refused()
}

// The configuration counts until the directory knows an epoch.
func TestTheFirstEpochIsTheConfiguredOne(t *testing.T) {
	d, err := Open(t.TempDir(), 1, time.Second)
	require.NoError(t, err)
	defer d.Close()
	s, err := d.ReadEpoch(Configured{})
	require.NoError(t, err)
	require.Nil(t, s, "there is no quorum system")
	s, err = d.ReadEpoch(Configured{Join: true})
	require.NoError(t, err)
	require.Equal(t, &epoch.State{}, s)

	q, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	first, err := d.ReadEpoch(Configured{Quorum: q, Epoch: 4})
	require.NoError(t, err)
	require.Equal(t, &epoch.State{Epoch: 4, System: q.String()}, first)
	other, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	again, err := d.ReadEpoch(Configured{Quorum: other, Epoch: 1, Join: true})
	require.NoError(t, err)
	require.Equal(t, first, again)
}
