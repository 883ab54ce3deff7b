package statedir

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// owner returns a node of the group that most tests have.
func owner(id timed.NodeID) Owner { return Owner{ID: id, Group: "a group"} }

// begin opens a directory for a node that begins.
func begin(dir string, id timed.NodeID, maxLock time.Duration) (*Dir, error) {
	d, err := Open(dir, owner(id), maxLock)
	if err == nil {
		err = d.Begin()
	}
	return d, err
}

// readEpoch returns the epoch in which a node begins.
func readEpoch(d *Dir, c Configured) (*epoch.State, error) {
	s, err := d.ReadEpoch(c)
	if err == nil {
		err = d.Begin()
	}
	return s, err
}

// failedLeavesNothing has starts fail before the node begins. They leave nothing that rules the
// next one, whatever they were configured with.
func failedLeavesNothing(t testing.TB) {
	dir := t.TempDir()
	q, err := quorum.Parse("majority:1,2")
	require.NoError(t, err)
	attempt := func(want uint64) {
		d, err := Open(dir, owner(1), time.Hour)
		require.NoError(t, err)
		s, err := d.ReadEpoch(Configured{Quorum: q, Epoch: 7})
		require.NoError(t, err)
		require.EqualValues(t, want, s.Epoch)
		require.NoError(t, d.Count())
		require.NoError(t, d.ReserveViews(5))
		require.NoError(t, d.KeepMembers([]Member{{ID: 9}}))
		s.System = "majority:1"
		require.NoError(t, d.WriteEpoch(s))
		require.NoError(t, d.Close())
	}
	attempt(7)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "the lock")

	d, err := Open(dir, owner(1), time.Second)
	require.NoError(t, err)
	require.EqualValues(t, 1, d.Incarnation())
	require.Equal(t, time.Second, d.Earlier())
	other, err := quorum.Parse("majority:1,2,3")
	require.NoError(t, err)
	_, err = d.ReadEpoch(Configured{Quorum: other, Epoch: 2})
	require.NoError(t, err)
	require.NoError(t, d.Count())
	heard := []Member{{ID: 7, Addr: netip.MustParseAddrPort("192.0.2.7:7000")}}
	require.NoError(t, d.KeepMembers(heard))
	require.NoError(t, d.Begin())
	kept, err := d.ReadMembers()
	require.NoError(t, err)
	require.Equal(t, heard, kept, "they were heard before the node had its id")
	require.NoError(t, d.Close())

	attempt(2)
	d, err = begin(dir, 1, time.Second)
	require.NoError(t, err)
	require.EqualValues(t, 3, d.Incarnation(), "two of the process that began, and this one")
	require.Zero(t, d.views.Load())
	s, err := readEpoch(d, Configured{Quorum: q, Epoch: 7})
	require.NoError(t, err)
	require.Equal(t, epoch.State{Epoch: 2, System: other.String()}, *s)
	require.NoError(t, d.Close())
	require.Error(t, d.Begin())
	require.Error(t, d.WriteEpoch(s))
}

func TestAFailedStartLeavesNothing(t *testing.T) { failedLeavesNothing(t) }

// stateFirst has a node begin whose state file cannot be written. There is no epoch then: without the
// file beside it, it would be half of a lost state, and the node would not start any more.
func stateFirst(t testing.TB) {
	dir := t.TempDir()
	q, err := quorum.Parse("majority:1,2")
	require.NoError(t, err)
	d, err := Open(dir, owner(1), time.Hour)
	require.NoError(t, err)
	_, err = d.ReadEpoch(Configured{Quorum: q, Epoch: 7})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(File(dir, 1), "in the way"), 0o700))
	require.Error(t, d.Begin())
	require.NoFileExists(t, d.epochPath())
	require.NoError(t, d.Close())
}

func TestTheStateIsWrittenBeforeTheEpoch(t *testing.T) { stateFirst(t) }
