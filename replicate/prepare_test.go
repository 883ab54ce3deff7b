package replicate_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// slow restores for so long that others would see its node without a state.
type slow struct{ words }

func (s *slow) Restore(from io.Reader) error {
	time.Sleep(time.Minute)
	return s.words.Restore(from)
}

func (s *slow) Apply(op replicate.Operation) any {
	if len(s.list) == 0 {
		time.Sleep(time.Minute)
	}
	return s.words.Apply(op)
}

// quorate is the configuration of a node of a group with a state that needs a quorum.
func quorate(t *testing.T, net *memory.Network, dir string, id failaware.NodeID) failaware.Config {
	return failaware.Config{ID: id, Transport: net.Transport(), StateDir: filepath.Join(dir, "node"), Quorum: majority(t, 3),
		Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}
}

// A node that has its state before it starts joins once.
func TestAPreparedStateNeedsNoOtherIncarnation(t *testing.T) {
	for _, prepared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			net, dir := memory.New(memory.Options{Seed: 15}), t.TempDir()
			all := onDisks(t, net, dir, true, 1, 2, 3)
			require.True(t, submit(t, all[0], "precious").Lasting)
			require.NoError(t, all[2].Close())
			c, app := quorate(t, net, dir, 3), &slow{}
			p := &replicate.Prepared{}
			var err error
			if prepared {
				p, err = replicate.Prepare(c, app, replicate.Config{Storage: filepath.Join(dir, "state3")})
				require.NoError(t, err)
			}
			n, err := failaware.Start(context.Background(), c)
			require.NoError(t, err)
			var r *replicate.Replica
			if prepared {
				r, err = p.Start(n)
			} else {
				r, err = replicate.Start(n, app, replicate.Config{Storage: filepath.Join(dir, "state3")})
			}
			require.NoError(t, err)
			time.Sleep(10 * n.Bounds().View)
			_, err = r.ReadLatest(t.Context(), func() { require.Equal(t, []string{"precious"}, app.list) })
			require.NoError(t, err)
			if prepared {
				require.Empty(t, restarts(n))
			} else {
				require.Equal(t, []event.RestartReason{event.LateState}, restarts(n))
			}
			require.NoError(t, r.Close())
			closeAll(t, all[:2])
		})
	}
}

// A node that lost its state directory is refused before it starts, however often it is
// tried, and the directory is not begun anew.
func TestPrepareRefusesAStateWithoutItsStateDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 16}), t.TempDir()
		all := onDisks(t, net, dir, true, 1, 2, 3)
		require.True(t, submit(t, all[0], "precious").Lasting)
		closeAll(t, all)
		state, kept := filepath.Join(dir, "node"), filepath.Join(dir, "kept")
		require.NoError(t, os.Rename(state, kept))
		prepare := func() error {
			p, err := replicate.Prepare(quorate(t, net, dir, 1), &words{}, replicate.Config{Storage: filepath.Join(dir, "state1")})
			if err == nil {
				require.NoError(t, p.Close())
			}
			return err
		}
		for range 2 {
			err := prepare()
			require.ErrorIs(t, err, failaware.ErrDamaged)
			require.ErrorContains(t, err, filepath.Join(state, "node-1.state"))
			require.ErrorContains(t, err, "come back with JoinQuorum, and under a new id (docs/how-to/disasters.md says when its own is safe)")
			require.NoDirExists(t, state)
		}
		require.NoError(t, os.Rename(kept, state))
		require.NoError(t, prepare())
	})
}

// A Storage is free again when a replica is refused, whatever the reason.
func TestARefusedReplicaGivesItsStorageFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 18}), t.TempDir()
		start := func(id failaware.NodeID) (failaware.Config, *failaware.Node) {
			c := failaware.Config{ID: id, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}
			n, err := failaware.Start(t.Context(), c)
			require.NoError(t, err)
			t.Cleanup(func() { _ = n.Close() })
			return c, n
		}
		c, n := start(1)
		prepare := func(spool string) (*replicate.Prepared, error) {
			return replicate.Prepare(c, &words{}, replicate.Config{Storage: filepath.Join(dir, "state"), Spool: spool})
		}
		_, err := prepare(filepath.Join(dir, "none"))
		require.ErrorContains(t, err, "Spool")
		p, err := prepare("")
		require.NoError(t, err)
		_, other := start(2)
		_, err = p.Start(other)
		require.ErrorContains(t, err, "Prepare was called for node 1")
		p, err = prepare("")
		require.NoError(t, err)
		_, err = replicate.Start(n, &words{}, replicate.Config{})
		require.NoError(t, err)
		_, err = p.Start(n)
		require.ErrorIs(t, err, failaware.ErrConsumer)
		p, err = prepare("")
		require.NoError(t, err)
		require.NoError(t, p.Close())
	})
}

// A Prepared is for one node, and is used once.
func TestAPreparedIsForOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, storage := memory.New(memory.Options{Seed: 17}), filepath.Join(t.TempDir(), "state")
		c := failaware.Config{ID: 1, Transport: net.Transport()}
		_, err := replicate.Prepare(c, &words{}, replicate.Config{})
		require.ErrorIs(t, err, failaware.ErrBroadcastOff)
		c.Broadcast = &failaware.BroadcastConfig{}
		_, err = replicate.Prepare(c, &words{}, replicate.Config{Rate: 1})
		require.ErrorContains(t, err, "Rate")
		prepare := func() *replicate.Prepared {
			p, err := replicate.Prepare(c, &words{}, replicate.Config{Storage: storage})
			require.NoError(t, err)
			return p
		}
		require.NoError(t, prepare().Close())
		another, elsewhere := c, c
		another.ID, elsewhere.Group = 2, "elsewhere"
		for _, other := range []failaware.Config{another, elsewhere} {
			p := prepare() // the directory is free
			n, err := failaware.Start(t.Context(), other)
			require.NoError(t, err)
			_, err = p.Start(n)
			require.ErrorContains(t, err, `Prepare was called for node 1 of group "default", and this is node `)
			_, err = p.Start(n)
			require.ErrorContains(t, err, "called before")
			require.NoError(t, n.Close())
		}

		p := prepare()
		n, err := failaware.Start(t.Context(), c)
		require.NoError(t, err)
		r, err := p.Start(n)
		require.NoError(t, err)
		require.NoError(t, p.Close(), "which is nothing now")
		time.Sleep(n.Bounds().Ready + n.Bounds().View)
		require.True(t, r.Progress().Accepting)
		require.NoError(t, r.Close())
	})
}

// Without a node there is an error, and the Storage can be used by another attempt.
func TestThereMustBeANode(t *testing.T) {
	_, err := replicate.Start(nil, &words{}, replicate.Config{})
	require.ErrorContains(t, err, "there is no node")
	net, dir := memory.New(memory.Options{Seed: 16}), t.TempDir()
	for range 2 {
		p, err := replicate.Prepare(quorate(t, net, dir, 1), &words{}, replicate.Config{Storage: filepath.Join(dir, "state")})
		require.NoError(t, err)
		_, err = p.Start(nil)
		require.ErrorContains(t, err, "there is no node")
	}
}
