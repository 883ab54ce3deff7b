package replicate_test

import (
	"context"
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

// A node that forgets its Storage joins a group that has one. Nothing is acknowledged until
// it is gone, both sides say why, and nothing is lost.
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
		time.Sleep(b.Rejoin + b.View)
		for _, h := range append(two[:2:2], third) {
			require.Equal(t, replicate.Mixed, h.Progress().Situation)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := h.Submit(ctx, []byte("lost"))
			cancel()
			require.ErrorIs(t, err, replicate.ErrNotAccepting)
			require.ErrorContains(t, err, "some members have a Storage, and others have none")
		}
		require.Contains(t, two[0].differed(), "node 3 has other settings: Storage is set here and not set there; "+
			"it must be set at all nodes or at none, and operations wait until it is")
		require.Contains(t, third.differed(), "node 1 has other settings: Storage is not set here and set there; "+
			"it must be set at all nodes or at none, and operations wait until it is")
		require.NoError(t, third.Close())
		time.Sleep(b.Notice + b.Depose + b.View)
		require.True(t, submit(t, two[1], "more").Lasting)
		require.Equal(t, []string{"precious", "more"}, two[0].latest(t))
		closeAll(t, two)
	})
}
