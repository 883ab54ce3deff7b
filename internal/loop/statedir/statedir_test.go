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
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	_, err = begin(dir, 1, time.Second)
	require.ErrorIs(t, err, ErrInUse)
	other, err := begin(dir, 2, time.Second)
	require.NoError(t, err, "nodes may share a directory")
	require.NoError(t, other.Close())
	require.EqualValues(t, 1, d.Incarnation())
	require.NoError(t, d.Count())
	require.EqualValues(t, 2, d.Incarnation())
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "again")

	d, err = begin(dir, 1, time.Millisecond)
	require.NoError(t, err)
	require.EqualValues(t, 3, d.Incarnation())
	require.Equal(t, time.Second, d.Earlier(), "the votes of the earlier process are longer")
	require.NoError(t, d.Lower(time.Millisecond))
	require.NoError(t, d.Lower(time.Minute), "it never becomes longer")
	require.NoError(t, d.Close())
	require.NoError(t, d.Lower(1), "nothing is written once it is closed")
	d, err = begin(dir, 1, 0)
	require.NoError(t, err)
	require.Equal(t, time.Millisecond, d.Earlier())
	require.NoError(t, d.Close())
}

func TestNothingOutlivesANodeWithoutADirectory(t *testing.T) {
	var d *Dir
	require.Zero(t, d.Incarnation())
	require.Zero(t, d.Earlier())
	require.NoError(t, d.Count())
	s, err := readEpoch(d, Configured{Epoch: 1})
	require.NoError(t, err)
	require.Nil(t, s)
	require.NoError(t, d.Close())
}

func TestDamagedStateIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "node-1.state")
	refused := func() {
		t.Helper()
		_, err := begin(dir, 1, time.Second)
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, path)
	}
	for _, content := range []string{"", "junk", format(5, 2, record{Group: "a group", Incarnations: 1, MaxLock: time.Second}), format(5, 1, record{Group: "a group", Incarnations: math.MaxUint64, MaxLock: time.Second}),
		format(5, 1, record{Group: "a group", Incarnations: 1, MaxLock: time.Second, Views: math.MaxUint64}),
		format(5, 1, record{Group: "a group", Incarnations: 1, MaxLock: 2 * timed.MaxDuration}), format(5, 1, record{Group: "a group", Incarnations: 1, MaxLock: time.Second, HasEpoch: true}) + "x", format(1, 1, record{Incarnations: 1, MaxLock: time.Second}), format(4, 1, record{Incarnations: 1, MaxLock: time.Second}), format(5, 1, record{Incarnations: 1, MaxLock: time.Second}),
		format(5, 1, record{Group: "a group", Incarnations: 1, HasEpoch: true, Least: progress{1, epoch.Wedged + 1}}), format(5, 1, record{Group: "a group", Incarnations: 1, Least: progress{1, epoch.Idle}})} {
		require.NoError(t, durable.Write(path, recordKind, []byte(content)))
		refused()
	}
	require.NoError(t, os.WriteFile(path, []byte("junk"), 0o600))
	refused()
}

// A node that has an epoch does not start without its state file: an error that told to
// remove the file would lead from one refusal to the next.
func TestADamagedFileBesideTheOtherIsNotToBeRemovedAlone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(File(dir, 1), []byte("junk"), 0o600))
	_, err := begin(dir, 1, time.Second)
	require.ErrorContains(t, err, "remove the file only if node 1 has not run")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node-1.epoch"), nil, 0o600))
	_, err = begin(dir, 1, time.Second)
	require.ErrorIs(t, err, ErrDamaged)
	require.NotContains(t, err.Error(), "remove the file only")
	require.ErrorContains(t, err, "restore it. If that is impossible, remove the rest as well")

	dir = nodeWithEpoch(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node-1.epoch"), []byte("junk"), 0o600))
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	defer d.Close()
	_, err = readEpoch(d, Configured{})
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "restore it. If that is impossible, remove the rest as well")
	require.NoError(t, durable.Write(filepath.Join(dir, "node-1.epoch"), epochKind, []byte("a whole file with junk")))
	_, err = readEpoch(d, Configured{})
	require.ErrorIs(t, err, ErrDamaged)
}

// The configuration counts until the directory knows an epoch.
func TestTheFirstEpochIsTheConfiguredOne(t *testing.T) {
	d, err := begin(t.TempDir(), 1, time.Second)
	require.NoError(t, err)
	defer d.Close()
	s, err := readEpoch(d, Configured{})
	require.NoError(t, err)
	require.Nil(t, s, "there is no quorum system")
	s, err = readEpoch(d, Configured{Join: true})
	require.NoError(t, err)
	require.Equal(t, &epoch.State{}, s)

	q, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	first, err := readEpoch(d, Configured{Quorum: q, Epoch: 4})
	require.NoError(t, err)
	require.Equal(t, &epoch.State{Epoch: 4, System: q.String()}, first)
	other, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	again, err := readEpoch(d, Configured{Quorum: other, Epoch: 1, Join: true})
	require.NoError(t, err)
	require.Equal(t, first, again)
}

// nodeWithEpoch leaves the state of node 1 in a directory: two incarnations, and an
// epoch.
func nodeWithEpoch(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for range 2 {
		d, err := begin(dir, 1, time.Second)
		require.NoError(t, err)
		q, err := quorum.Majority(timed.SetOf(1, 2, 3))
		require.NoError(t, err)
		_, err = readEpoch(d, Configured{Quorum: q, Epoch: 1})
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
	return dir
}

// A node that has lost one of its two files does not start: it would count its
// incarnations anew, or vote again in an epoch that it has left.
func halfAStateIsRefused(t testing.TB) {
	for _, lost := range []string{"node-1.state", "node-1.epoch"} {
		dir := nodeWithEpoch(t)
		require.NoError(t, os.Remove(filepath.Join(dir, lost)))
		for range 2 { // nothing is written meanwhile
			_, err := begin(dir, 1, time.Second)
			require.ErrorIs(t, err, ErrDamaged, lost)
			require.ErrorContains(t, err, "there is no "+filepath.Join(dir, lost))
		}
		other, err := begin(dir, 2, time.Second)
		require.NoError(t, err, "another node's files are its own")
		require.NoError(t, other.Close())
	}
	dir := nodeWithEpoch(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "node-1.state")))
	require.NoError(t, os.Remove(filepath.Join(dir, "node-1.epoch")))
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err, "nothing tells a lost state from a new node's")
	require.NoError(t, d.Close())
}

func TestHalfAStateIsRefused(t *testing.T) { halfAStateIsRefused(t) }

// A crash between the writes of the two files costs nothing.
func TestAnEpochThatTheStateDoesNotMentionIsKept(t *testing.T) {
	dir := nodeWithEpoch(t)
	path := filepath.Join(dir, "node-1.state")
	require.NoError(t, durable.Write(path, recordKind, []byte(format(5, 1, record{Group: "a group", Incarnations: 2, MaxLock: time.Second, Views: 5}))))
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	s, err := readEpoch(d, Configured{})
	require.NoError(t, err)
	require.EqualValues(t, 1, s.Epoch)
	require.NoError(t, d.Close())
	b, err := durable.Read(path, recordKind)
	require.NoError(t, err)
	require.Equal(t, format(5, 1, record{Group: "a group", Incarnations: 3, MaxLock: time.Second, HasEpoch: true, Views: 5, Least: progress{1, epoch.Idle}}), string(b))
}

// Files of earlier releases are read. None of them names the group, the first three do not say
// how far the epoch is, the first two not which views there were, and the first not whether there
// is an epoch.
func TestFormerFilesAreRead(t *testing.T) {
	for _, former := range formerKinds {
		for _, has := range []bool{false, true} {
			dir := nodeWithEpoch(t)
			path := filepath.Join(dir, "node-1.state")
			write := func(id timed.NodeID) {
				old := record{Incarnations: 7, MaxLock: time.Second, HasEpoch: has}
				require.NoError(t, durable.Write(path, former, []byte(format(former.Version, id, old))))
			}
			write(1)
			if !has {
				require.NoError(t, os.Remove(filepath.Join(dir, "node-1.epoch")))
			}
			d, err := begin(dir, 1, time.Millisecond)
			require.NoError(t, err)
			require.EqualValues(t, 8, d.Incarnation())
			require.Equal(t, time.Second, d.Earlier())
			require.Zero(t, d.views.Load())
			require.NoError(t, d.Close())
			b, err := durable.Read(path, recordKind)
			require.NoError(t, err)
			require.Equal(t, format(5, 1, record{Group: "a group", Incarnations: 8, MaxLock: time.Second, HasEpoch: has}), string(b))

			write(2)
			_, err = begin(dir, 1, time.Second)
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, "it belongs to node 2")
		}
	}
}

// The sequences of views are written down before they are used, some of them at a time.
func TestSequencesOfViewsGrow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "node-1.state")
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	require.Zero(t, d.views.Load())
	require.NoError(t, d.ReserveViews(5))
	require.EqualValues(t, 5+reserved, d.views.Load())
	require.Zero(t, d.FormerViews(), "of this process")
	before, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, d.ReserveViews(5+reserved))
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "nothing to write")
	require.NoError(t, d.Count())
	require.NoError(t, d.Close())
	d, err = begin(dir, 1, time.Second)
	require.NoError(t, err)
	require.EqualValues(t, 5+reserved, d.views.Load())
	require.EqualValues(t, 5+reserved, d.FormerViews())
	require.NoError(t, d.Close())
	var none *Dir
	require.NoError(t, none.ReserveViews(1))
	require.Zero(t, none.FormerViews())
}

// An epoch that could not be written is not missed at the next start.
func unwrittenEpochIsNotMissed(t testing.TB) {
	dir := t.TempDir()
	d, err := begin(dir, 1, time.Second)
	require.NoError(t, err)
	path := filepath.Join(dir, "node-1.epoch")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	require.Error(t, d.WriteEpoch(&epoch.State{Epoch: 1, System: "majority:1"}))
	require.NoError(t, d.Close())
	require.NoError(t, os.RemoveAll(path))
	d, err = begin(dir, 1, time.Second)
	require.NoError(t, err)
	require.NoError(t, d.Close())
}

func TestAnUnwrittenEpochIsNotMissed(t *testing.T) { unwrittenEpochIsNotMissed(t) }
