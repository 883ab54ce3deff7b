package replicate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// onDisks starts nodes of a group, each with the state in its directory.
func onDisks(t *testing.T, net *memory.Network, dir string, withQuorum bool, ids ...failaware.NodeID) (all []*holder) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	for _, id := range ids {
		c := failaware.Config{ID: id, Transport: net.Transport(), StateDir: filepath.Join(dir, "node"),
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: withQuorum}}
		if withQuorum {
			c.Quorum = majority
		}
		all = append(all, start(t, c, replicate.Config{Storage: filepath.Join(dir, fmt.Sprint("state", id))}, &words{}))
	}
	time.Sleep(all[0].Node().Bounds().Ready + all[0].Node().Bounds().View)
	return all
}

func closeAll(t *testing.T, all []*holder) {
	for _, h := range all {
		require.NoError(t, h.Close())
		require.NoError(t, h.Err())
	}
}

// All processes of a group end, and it goes on with what was acknowledged.
func TestAStateOnDisksOutlivesAllProcesses(t *testing.T) {
	rounds := 4
	if race.Enabled {
		rounds = 2
	}
	for _, withQuorum := range []bool{true, false} {
		t.Run(fmt.Sprint("quorum ", withQuorum), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, dir := memory.New(memory.Options{Seed: 6}), t.TempDir()
				var want []string
				for round := range rounds {
					all := onDisks(t, net, dir, withQuorum, 1, 2, 3)
					require.Equal(t, want, all[round%3].latest(t))
					for i := range 10 {
						want = append(want, fmt.Sprint("w", round, i))
						require.True(t, submit(t, all[i%3], want[len(want)-1]).Lasting)
					}
					for _, h := range all {
						require.Equal(t, want, h.latest(t))
					}
					closeAll(t, all)
				}
			})
		})
	}
}

// A part of the group goes on while the others are away, and these get its state.
func TestAStateOnADiskGivesWayToALaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 7}), t.TempDir()
		all := onDisks(t, net, dir, true, 1, 2, 3)
		require.True(t, submit(t, all[0], "one").Lasting)
		closeAll(t, all)
		two := onDisks(t, net, dir, true, 1, 2)
		require.True(t, submit(t, two[1], "two").Lasting)
		closeAll(t, two)
		two = onDisks(t, net, dir, true, 2, 3)
		require.True(t, submit(t, two[1], "three").Lasting)
		require.EqualValues(t, 1, two[1].restored.Load())
		closeAll(t, two)
		for _, pair := range [][]failaware.NodeID{{3, 1}, {1, 2}} {
			two = onDisks(t, net, dir, true, pair...)
			require.Equal(t, []string{"one", "two", "three"}, two[0].latest(t))
			closeAll(t, two)
		}
	})
}

// An operation whose view ends before all members have it lasts all the same when Submit
// returns: it is on the disks of those that go on.
func TestWhatAViewLeavesBehindLastsOnDisks(t *testing.T) {
	a := leftBehind(t)
	require.True(t, a.Transitional, "the view has ended")
	require.True(t, a.Lasting)
}

// leftBehind returns the outcome of an operation in a group without a quorum, one of whose
// members goes away before it has it. If that member is just to order messages, the next view
// orders the operation, which leaves nothing behind: then it tries again.
func leftBehind(t *testing.T) (a replicate.Applied) {
	for seed := uint64(7); seed < 50 && !a.Transitional; seed++ {
		synctest.Test(t, func(t *testing.T) {
			net := memory.New(memory.Options{Seed: seed})
			all := onDisks(t, net, t.TempDir(), false, 1, 2, 3)
			submit(t, all[0], "one")
			net.Partition([]failaware.NodeID{3})
			a = submit(t, all[0], "two")
			closeAll(t, all)
		})
	}
	return a
}

func TestADamagedStateIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 8}), t.TempDir()
		all := onDisks(t, net, dir, false, 1)
		require.True(t, submit(t, all[0], "precious").Lasting)
		alone := memory.New(memory.Options{Seed: 9}).Transport() // a second process of the node, which the first does not hear
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: alone, Broadcast: &failaware.BroadcastConfig{}})
		require.NoError(t, err)
		defer n.Close()
		_, err = replicate.Start(n, &words{}, replicate.Config{Storage: filepath.Join(dir, "state1")})
		require.ErrorIs(t, err, failaware.ErrInUse)
		require.ErrorContains(t, err, `node 1 of group "default" already runs with`)
		other, err := failaware.Start(t.Context(), failaware.Config{ID: 2, Transport: alone, Broadcast: &failaware.BroadcastConfig{}})
		require.NoError(t, err)
		defer other.Close()
		_, err = replicate.Start(other, &words{}, replicate.Config{Storage: filepath.Join(dir, "state1")})
		require.ErrorIs(t, err, failaware.ErrInUse, "to remove the owner would not help")
		require.ErrorContains(t, err, `node 1 of group "default" already runs with`)
		require.NotContains(t, err.Error(), "remove the file")
		require.NoError(t, os.Remove(filepath.Join(dir, "state1", "owner")))
		_, err = replicate.Start(other, &words{}, replicate.Config{Storage: filepath.Join(dir, "state1")})
		require.ErrorIs(t, err, failaware.ErrInUse)
		require.ErrorContains(t, err, "another node already runs with")
		closeAll(t, all)

		path := filepath.Join(dir, "state1", "log-0000000000000001")
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		b[100] ^= 1 // of the first batch
		require.NoError(t, os.WriteFile(path, b, 0o600))
		_, err = replicate.Start(n, &words{}, replicate.Config{Storage: filepath.Join(dir, "state1")})
		var damaged *journal.DamagedError
		require.ErrorIs(t, err, failaware.ErrDamaged)
		require.ErrorAs(t, err, &damaged)
		require.Equal(t, path, damaged.Path)
		require.ErrorContains(t, err, path+" is damaged at offset")
	})
}

// withoutStateDirectory has a node of a quorum lose its state directory, and returns what
// the replica says that starts with the Storage alone, and then another one, and the path of
// the lost file. Then check goes on.
func withoutStateDirectory(t *testing.T, check func(t *testing.T, net *memory.Network, dir, lost string, first, second error)) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 9}), t.TempDir()
		all := onDisks(t, net, dir, true, 1, 2, 3)
		require.True(t, submit(t, all[0], "precious").Lasting)
		closeAll(t, all)
		lost := filepath.Join(dir, "node", "node-1.state")
		require.NoError(t, os.Remove(lost))
		require.NoError(t, os.Remove(filepath.Join(dir, "node", "node-1.epoch")))
		again := func() error {
			n, err := failaware.Start(t.Context(), quorate(t, net, dir, 1))
			require.NoError(t, err)
			time.Sleep(n.Bounds().Rejoin + n.Bounds().View) // its own view has a sequence now, which the new directory knows
			r, err := replicate.Start(n, &words{}, replicate.Config{Storage: filepath.Join(dir, "state1")})
			if err == nil {
				require.NoError(t, r.Close())
			}
			require.NoError(t, n.Close())
			return err
		}
		first := again()
		check(t, net, dir, lost, first, again())
	})
}

// Half of what a node must remember is not enough: the sequences of views would begin anew. The
// new state directory knows views of the first attempt, which make nothing good.
func TestAStateWithoutItsStateDirectoryIsRefused(t *testing.T) {
	withoutStateDirectory(t, func(t *testing.T, net *memory.Network, dir, lost string, first, second error) {
		for _, err := range []error{first, second} {
			require.ErrorIs(t, err, failaware.ErrDamaged)
			require.ErrorContains(t, err, lost)
			require.ErrorContains(t, err, filepath.Join(dir, "state1"))
		}
		require.ErrorContains(t, second, "state1 was refused before")
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "state1")))
		all := onDisks(t, net, dir, true, 1, 2, 3)
		require.Equal(t, []string{"precious"}, all[0].latest(t))
		closeAll(t, all)
	})
}

// In quorums, states are compared by sequences of views, which a state directory keeps.
func TestStorageInQuorumsNeedsAStateDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
		require.NoError(t, err)
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(), Quorum: majority,
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}})
		require.NoError(t, err)
		defer n.Close()
		_, err = replicate.Start(n, &words{}, replicate.Config{Storage: t.TempDir()})
		require.ErrorContains(t, err, "StateDir")
	})
}

// keepPrecious starts two nodes, and ends them when their directories have a word.
func keepPrecious(t *testing.T, net *memory.Network, dir string) {
	all := onDisks(t, net, dir, false, 1, 2)
	require.True(t, submit(t, all[0], "precious").Lasting)
	closeAll(t, all)
}

// A directory that was given to the wrong node is refused before anything is changed, and
// the right one goes on with it.
func TestTheStateOfAnotherNodeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 12}), t.TempDir()
		keepPrecious(t, net, dir)
		log := filepath.Join(dir, "state1", "log-0000000000000001")
		f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = f.WriteString("torn") // what a start of the owner would cut off
		require.NoError(t, err)
		require.NoError(t, f.Close())
		before, err := os.ReadFile(log)
		require.NoError(t, err)
		for _, c := range []failaware.Config{{ID: 3}, {ID: 1, Group: "another"}} {
			c.Transport, c.Broadcast = net.Transport(), &failaware.BroadcastConfig{}
			n, err := failaware.Start(t.Context(), c)
			require.NoError(t, err)
			_, err = replicate.Start(n, &words{}, replicate.Config{Storage: filepath.Join(dir, "state1")})
			require.ErrorIs(t, err, replicate.ErrOwner)
			require.ErrorContains(t, err, `state1 has the state of node 1 of group "default", and this is node`)
			require.NoError(t, n.Close())
		}
		after, err := os.ReadFile(log)
		require.NoError(t, err)
		require.Equal(t, before, after)
		all := onDisks(t, net, dir, false, 1, 2)
		require.Equal(t, []string{"precious"}, all[0].latest(t))
		closeAll(t, all)
	})
}

// A node that cannot keep its state learns that before it starts, and changes nothing.
func TestAStorageIsPreparedBeforeTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 14}), t.TempDir()
		keepPrecious(t, net, dir)
		taken := filepath.Join(dir, "state1")
		prepare := func(dir string, c failaware.Config) error {
			c.Broadcast = &failaware.BroadcastConfig{}
			p, err := replicate.Prepare(c, &words{}, replicate.Config{Storage: dir})
			if err == nil {
				require.NoError(t, p.Close())
			}
			return err
		}
		require.NoError(t, prepare(taken, failaware.Config{ID: 1}))
		require.NoError(t, prepare(taken, failaware.Config{StateDir: dir}), "the id is not known yet")
		for _, other := range []failaware.Config{{ID: 3}, {ID: 1, Group: "another"}} {
			err := prepare(taken, other)
			require.ErrorIs(t, err, replicate.ErrOwner)
			require.ErrorContains(t, err, "replicate: Storage: ")
		}
		fresh := filepath.Join(dir, "new", "state")
		require.NoError(t, prepare(fresh, failaware.Config{ID: 1}))
		require.DirExists(t, fresh)
		file := filepath.Join(dir, "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.ErrorContains(t, prepare(file, failaware.Config{ID: 1}), file+": it is not a directory")
		require.NoError(t, os.Chmod(fresh, 0o777))
		err := prepare(fresh, failaware.Config{ID: 1})
		require.ErrorContains(t, err, "lets others write")
		all := onDisks(t, net, dir, false, 1, 2)
		require.Equal(t, []string{"precious"}, all[0].latest(t))
		closeAll(t, all)
	})
}

// A directory of a former release has no owner, and the node that opens it becomes that.
func TestAStateWithoutAnOwnerGetsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 13}), t.TempDir()
		keepPrecious(t, net, dir)
		owner := filepath.Join(dir, "state1", "owner")
		require.NoError(t, os.Remove(owner))
		all := onDisks(t, net, dir, false, 1, 2)
		require.Equal(t, []string{"precious"}, all[0].latest(t))
		require.FileExists(t, owner)
		closeAll(t, all)
	})
}
