package failaware_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// A member that does not hear this node does not count as alive here, and yet it runs, and may lead
// the others by the former quorum system: it is not dead.
func TestADeafMemberIsNotDeclaredDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 1}), t.TempDir()
		q, err := quorum.Parse("majority:1,2,3")
		require.NoError(t, err)
		var first *failaware.Node
		for id := failaware.NodeID(3); id > 0; id-- {
			first, err = failaware.Start(t.Context(), failaware.Config{ID: id, Transport: net.Transport(), StateDir: dir, Quorum: q})
			require.NoError(t, err)
			defer first.Close()
		}
		time.Sleep(3 * time.Second)
		net.Cut(1, 2)
		time.Sleep(3 * time.Second)
		require.Equal(t, timed.SetOf(3), first.Status().Alive)
		next, err := quorum.Parse("majority:1,3")
		require.NoError(t, err)
		require.ErrorIs(t, first.ForceQuorum(t.Context(), next, timed.SetOf(2)), epoch.ErrAlive)
		require.Equal(t, epoch.Idle, first.Epoch().Phase)
	})
}
