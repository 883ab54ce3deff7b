package replicate_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// A node that forgets its Storage joins a group that has one. It ends, both sides say why,
// the others go on, and nothing is lost.
func TestANodeWithoutAStorageIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 10}), t.TempDir()
		all := onDisks(t, net, dir, true, 1, 2, 3)
		require.True(t, submit(t, all[0], "precious").Lasting)
		closeAll(t, all)

		two := onDisks(t, net, dir, true, 1, 2)
		majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
		require.NoError(t, err)
		third := start(t, failaware.Config{ID: 3, Transport: net.Transport(), StateDir: filepath.Join(dir, "node"), Quorum: majority,
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}, replicate.Config{}, &words{})
		b := third.Node().Bounds()
		<-third.Node().Done()
		require.NoError(t, third.Close())
		require.ErrorIs(t, third.Err(), replicate.ErrMixed, "Close came after the end")
		require.ErrorContains(t, third.Err(), "Storage is not set here and set at node 2")
		time.Sleep(b.Notice + b.Depose + b.View)
		require.Contains(t, two[0].differed(), "node 3 has other settings: Storage is set here and not set there; "+
			"it must be set at all nodes or at none, and operations wait until it is")
		require.Contains(t, third.differed(), "node 1 has other settings: Storage is not set here and set there; "+
			"it must be set at all nodes or at none, and operations wait until it is")
		require.True(t, submit(t, two[1], "more").Lasting)
		require.Equal(t, []string{"precious", "more"}, two[0].latest(t))
		closeAll(t, two)
	})
}
