package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/journal"
)

// strangers requires that a directory with a journal is its owner's alone, and that a
// refusal leaves every byte as it is.
func strangers(t testing.TB) {
	dir := filepath.Join(t.TempDir(), "state")
	mine := Owner{Node: 1, Group: "plant"}
	check := func(o Owner) error {
		_, err := checkOwner(dir, o)
		return err
	}
	require.NoError(t, check(mine), "there is no directory yet")
	require.NoError(t, durable.MakeDir(dir))
	require.NoError(t, check(mine), "nobody has noted")
	require.NoError(t, own(dir, mine, 7))
	before, err := os.ReadFile(filepath.Join(dir, ownerFile))
	require.NoError(t, err)
	for _, other := range []Owner{{Node: 2, Group: "plant"}, {Node: 1, Group: "plants"}, {Node: 11, Group: "plant"}, {Node: 1}} {
		for _, refused := range []error{check(other), own(dir, other, 7)} {
			require.ErrorIs(t, refused, ErrOwner)
			for _, part := range []string{dir, mine.String(), other.String(), filepath.Join(dir, ownerFile)} {
				require.ErrorContains(t, refused, part)
			}
		}
	}
	require.NoError(t, check(mine))
	require.NoError(t, own(dir, mine, 7), "again")
	after, err := os.ReadFile(filepath.Join(dir, ownerFile))
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// Advice that is followed must help: with a quorum, a state is refused under another id also
// without its owner, since the state directory of that id does not know its views.
func TestAdviceAboutAnOwnerHelps(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, own(dir, Owner{Node: 1, Group: "plant"}, 7))
	for _, o := range []Owner{{Node: 2, Group: "plant"}, {Node: 2, Group: "plant", Quorate: true}, {Node: 11, Quorate: true}, {Node: 1, Group: "renamed", Quorate: true}, {Node: 1, Group: "renamed"}} {
		_, err := checkOwner(dir, o)
		require.ErrorContains(t, err, "name another directory")
		require.Equal(t, o.Node == 1, strings.Contains(err.Error(), "set the node's FormerGroup"), "%v: %v", o, err)
		require.Equal(t, !o.Quorate, strings.Contains(err.Error(), "remove the file "+filepath.Join(dir, ownerFile)), "%v: %v", o, err)
	}
}

// An owner whose id begins with that of the node is another one.
func TestTheIDOfAnOwnerIsComparedWhole(t *testing.T) {
	one := Owner{Node: 1, Quorate: true}
	require.Empty(t, one.adoption(Owner{Node: 12, Group: "plant"}.String(), "owner"))
	require.NotEmpty(t, one.adoption(Owner{Node: 1, Group: "plant"}.String(), "owner"))
}

// lostLog requires that a directory that has an owner, and has lost its only log, is refused and
// stays as it is. Without its owner it is a new one.
func lostLog(t testing.TB) {
	dir := filepath.Join(t.TempDir(), "state")
	log, owner := filepath.Join(dir, "log-0000000000000001"), filepath.Join(dir, ownerFile)
	begin := func() error {
		s, err := OpenStore(dir, Owner{Node: 1, Group: "plant"}, new(words))
		if err == nil {
			require.NoError(t, s.Close())
		}
		return err
	}
	require.NoError(t, begin())
	require.NoError(t, begin())
	require.NoError(t, os.Remove(log))
	for range 2 {
		err := begin()
		require.ErrorIs(t, err, failaware.ErrDamaged)
		for _, part := range []string{log, owner} {
			require.ErrorContains(t, err, part)
		}
		require.NoFileExists(t, log)
	}
	require.NoError(t, os.Remove(owner))
	require.NoError(t, begin())
}

func TestALostLogIsRefused(t *testing.T) { lostLog(t) }

// A directory of a group that was renamed on purpose is its own under the new name, and its
// journal is still compared.
func TestAStorageOfARenamedGroup(t *testing.T) {
	dir := t.TempDir()
	open := func(o Owner) error {
		s, err := OpenStore(dir, o, &words{})
		return errors.Join(err, s.Close())
	}
	old, renamed := Owner{Node: 1, Group: "old", Quorate: true}, Owner{Node: 1, Group: "new", Former: "old", Quorate: true}
	require.NoError(t, open(old))
	noted, err := durable.Read(filepath.Join(dir, journalFile), journalKind)
	require.NoError(t, err)
	require.NoError(t, durable.Write(filepath.Join(dir, journalFile), journalKind, []byte("17")))
	require.ErrorIs(t, open(renamed), ErrOwner)
	require.NoError(t, durable.Write(filepath.Join(dir, journalFile), journalKind, noted))
	require.ErrorIs(t, open(Owner{Node: 2, Group: "new", Former: "old"}), ErrOwner)
	for range 2 {
		require.NoError(t, open(renamed))
	}
	require.ErrorIs(t, open(old), ErrOwner)
	require.NoError(t, open(Owner{Node: 1, Group: "new", Quorate: true}))
}

func TestAStorageHasOneOwner(t *testing.T) { strangers(t) }

func TestADamagedOwnerIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ownerFile)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, early := checkOwner(dir, Owner{Node: 1, Group: "plant"})
	for _, err := range []error{early, own(dir, Owner{Node: 1, Group: "plant"}, 7)} {
		require.ErrorIs(t, classify(err), failaware.ErrDamaged)
		require.ErrorContains(t, err, path)
	}
}

// A directory that is refused after it was locked is free again.
func TestARefusedStorageIsFree(t *testing.T) {
	unowned, unknown := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(unowned, ownerFile+".new"), 0o700)) // where the owner would be written
	j, err := journal.Open(unknown, journal.Options{})
	require.NoError(t, err)
	var b journal.Batch
	b.Add([]byte("of a later build"))
	require.NoError(t, j.Append(&b))
	require.NoError(t, j.Close())
	for _, dir := range []string{unowned, unknown} {
		_, err := OpenStore(dir, Owner{Node: 1}, &words{})
		require.Error(t, err)
		lock, err := durable.TakeLock(filepath.Join(dir, "lock"))
		require.NoError(t, err)
		require.NoError(t, lock.Release())
	}
}

// copiedLogs copies the log of one node into the directory of another one, and returns what starts
// with it. A refusal changes no byte.
func copiedLogs(t testing.TB) (starts []string) {
	one, two := Owner{Node: 1, Group: "plant"}, Owner{Node: 3, Group: "plant", Quorate: true}
	fill := func(o Owner) string {
		dir := t.TempDir()
		s, err := OpenStore(dir, o, &words{})
		require.NoError(t, err)
		require.NoError(t, s.locate(t.Context(), placeOf(1)))
		log(t, s, &words{}, 1)
		require.NoError(t, s.Close())
		return dir
	}
	first, second := fill(one), fill(two)
	name := "log-0000000000000001"
	a, err := os.ReadFile(filepath.Join(first, name))
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(second, name))
	require.NoError(t, err)
	for _, c := range []struct {
		dir  string
		own  Owner
		log  []byte
		mine []byte
	}{{first, one, b, a}, {second, two, a, b}} {
		path := filepath.Join(c.dir, name)
		require.NoError(t, os.WriteFile(path, c.log, 0o600))
		s, err := OpenStore(c.dir, c.own, &words{})
		if err == nil {
			starts = append(starts, c.own.String())
			require.NoError(t, s.Close())
			continue
		}
		require.ErrorIs(t, err, ErrOwner)
		require.ErrorContains(t, err, path+" belongs to another journal than the one of "+c.own.String())
		require.Equal(t, !c.own.Quorate, strings.Contains(err.Error(), "remove the file "+filepath.Join(c.dir, journalFile)))
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, c.log, after)
		require.NoError(t, os.WriteFile(path, c.mine, 0o600))
		s, err = OpenStore(c.dir, c.own, &words{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	return starts
}

func TestALogThatWasCopiedIsRefused(t *testing.T) { require.Empty(t, copiedLogs(t)) }

// takenOver has stores whose owner or journal is not noted: the directory of an earlier build, and
// one that a new owner takes over.
func takenOver(t testing.TB) {
	dir := t.TempDir()
	one, two := Owner{Node: 1, Group: "plant"}, Owner{Node: 2, Group: "plant"}
	open := func(o Owner) error {
		s, err := OpenStore(dir, o, &words{})
		return errors.Join(err, s.Close())
	}
	path := filepath.Join(dir, journalFile)
	require.NoError(t, open(one))
	noted, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path)) // an earlier build has written none
	require.NoError(t, open(one))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, noted, again)

	require.NoError(t, durable.Write(path, journalKind, []byte("17"))) // of a journal that is gone
	require.ErrorIs(t, open(one), ErrOwner)
	require.NoError(t, os.Remove(filepath.Join(dir, ownerFile)))
	require.NoError(t, open(two))
	again, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, noted, again)

	require.NoError(t, durable.Write(path, journalKind, []byte("?")))
	require.ErrorIs(t, open(two), failaware.ErrDamaged)
}

func TestANewOwnerTakesAJournalOver(t *testing.T) { takenOver(t) }
