package statedir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/quorum"
)

// ofGroup lets a node with an epoch run in a group, and returns the directory.
func ofGroup(t testing.TB, o Owner) (dir string) {
	t.Helper()
	dir = t.TempDir()
	d, err := Open(dir, o, time.Second)
	require.NoError(t, err)
	q, err := quorum.Parse("majority:1")
	require.NoError(t, err)
	_, err = readEpoch(d, Configured{Quorum: q, Epoch: 1})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	return dir
}

// files returns the content of a directory.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range list {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		all[f.Name()] = string(b)
	}
	return all
}

// anotherGroupIsRefused opens the state of a node of one group for the node of another, whose
// other members have another quorum system.
func anotherGroupIsRefused(t testing.TB) {
	dir := ofGroup(t, Owner{ID: 1, Group: `the "scratch" group`})
	before := files(t, dir)
	for _, o := range []Owner{{ID: 1, Group: "prod"}, {ID: 1, Group: "prod", Former: "test"}} {
		for range 2 {
			_, err := Open(dir, o, time.Second)
			require.ErrorIs(t, err, ErrGroup)
			require.NotErrorIs(t, err, ErrDamaged)
			for _, part := range []string{File(dir, 1), `node 1 of group "the \"scratch\" group"`, `this is node 1 of group "prod"`, "FormerGroup"} {
				require.ErrorContains(t, err, part)
			}
			require.ErrorIs(t, CheckGroup(dir, o), ErrGroup)
		}
		require.Equal(t, before, files(t, dir), "a refusal changes nothing")
	}
	d, err := Open(dir, Owner{ID: 1, Group: `the "scratch" group`, Former: "prod"}, time.Second)
	require.NoError(t, err)
	require.Empty(t, d.Renamed())
	_, err = Open(dir, Owner{ID: 1, Group: "prod"}, time.Second)
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, `node 1 of group "the \"scratch\" group" already runs`)
	require.NoError(t, d.Close())
	other, err := begin(dir, 2, time.Second)
	require.NoError(t, err, "another node's files are its own")
	require.NoError(t, other.Close())
}

func TestTheStateOfAnotherGroupIsRefused(t *testing.T) { anotherGroupIsRefused(t) }

// renamedGoesOn lets a group be renamed on purpose: what its nodes have promised stays.
func renamedGoesOn(t testing.TB) {
	dir := ofGroup(t, Owner{ID: 1, Group: "old"})
	renamed := Owner{ID: 1, Group: "new", Former: "old"}
	require.NoError(t, CheckGroup(dir, renamed))
	d, err := Open(dir, renamed, time.Second)
	require.NoError(t, err)
	require.Equal(t, "old", d.Renamed())
	require.NoError(t, d.Close())
	d, err = Open(dir, Owner{ID: 1, Group: "old"}, time.Second)
	require.NoError(t, err, "a start that fails changes nothing")
	require.NoError(t, d.Close())

	d, err = Open(dir, renamed, time.Second)
	require.NoError(t, err)
	s, err := readEpoch(d, Configured{})
	require.NoError(t, err)
	require.Equal(t, "majority:1", s.System)
	require.EqualValues(t, 2, d.Incarnation())
	require.NoError(t, d.Close())
	_, err = Open(dir, Owner{ID: 1, Group: "old"}, time.Second)
	require.ErrorIs(t, err, ErrGroup)
	d, err = Open(dir, Owner{ID: 1, Group: "new"}, time.Second)
	require.NoError(t, err)
	require.NoError(t, d.Close())
}

func TestARenamedGroupGoesOn(t *testing.T) { renamedGoesOn(t) }

// The file of a former release names no group. It is read, and names one from then on.
func TestAFormerFileGetsAGroup(t *testing.T) { formerGetsAGroup(t) }

func formerGetsAGroup(t testing.TB) {
	for _, k := range formerKinds {
		dir := t.TempDir()
		require.NoError(t, durable.Write(File(dir, 1), k, []byte(format(k.Version, 1, record{Incarnations: 7, MaxLock: time.Second}))))
		require.NoError(t, CheckGroup(dir, Owner{ID: 1, Group: "prod"}))
		d, err := Open(dir, Owner{ID: 1, Group: "prod"}, time.Second)
		require.NoError(t, err)
		require.NoError(t, d.Begin())
		require.Empty(t, d.Renamed())
		require.NoError(t, d.Close())
		_, err = Open(dir, Owner{ID: 1, Group: "scratch"}, time.Second)
		require.ErrorIs(t, err, ErrGroup, "version %d", k.Version)
	}
}

// A node that chose its id in one group does not go on with it in another.
func TestTheGroupOfAChosenID(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, CheckGroup(dir, Owner{Group: "prod"}), "no id is kept")
	a, err := OpenAssigned(dir)
	require.NoError(t, err)
	require.NoError(t, a.Keep(7))
	d, err := begin(dir, 7, time.Second)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, CheckGroup(dir, Owner{Group: "a group"}))
	require.ErrorIs(t, CheckGroup(dir, Owner{Group: "prod"}), ErrGroup)
	require.NoError(t, CheckGroup(dir, Owner{ID: 1, Group: "prod"}))
	require.NoError(t, a.Close())
	require.NoError(t, os.WriteFile(File(dir, 7), []byte("junk"), 0o600))
	require.NoError(t, CheckGroup(dir, Owner{Group: "prod"}), "it is of no group")
	var none *Dir
	require.Empty(t, none.Renamed())
}
