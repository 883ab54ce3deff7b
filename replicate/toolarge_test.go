package replicate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// A node whose MaxSnapshot is below the size of the state of others says so, and ends. The others
// go on: without it if it joins, and with what it had if states are merged.
func TestANodeEndsThatDoesNotTakeTheState(t *testing.T) {
	for _, joins := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			net := memory.New(memory.Options{Seed: 17})
			cfg := failaware.Config{Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}
			var all []*holder
			for _, app := range applications(2, 10_000) {
				cfg.ID++
				all = append(all, start(t, cfg, replicate.Config{}, app))
			}
			b := all[0].Node().Bounds()
			time.Sleep(b.Ready + b.View)
			submit(t, all[0], "large")
			net.Partition([]failaware.NodeID{1, 2}, []failaware.NodeID{3})
			cfg.ID = 3
			third := start(t, cfg, replicate.Config{MaxSnapshot: 5000}, &words{})
			want := []string{"large"}
			if !joins {
				time.Sleep(b.Ready + b.View)
				submit(t, third, "apart")
				want = []string{"apart", "large"}
			}
			net.Heal()
			<-third.Node().Done()
			require.NoError(t, third.Close())
			require.ErrorIs(t, third.Err(), replicate.ErrSnapshotTooLarge)
			require.ErrorContains(t, third.Err(), "has 10")
			require.Equal(t, []uint64{5000}, third.limits)
			time.Sleep(b.Notice + b.Depose + b.View)
			for _, h := range all {
				require.Equal(t, want, h.latest(t))
			}
			submit(t, all[1], "more")
		})
	}
}
