package replicate_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// large are the nodes of a group with a large state, and apart is one beside it.
var large, apart = []failaware.NodeID{1, 2}, []failaware.NodeID{3}

// besideLarge starts a group with a large state, and beside it a node that does not take it.
func besideLarge(t testing.TB, seed uint64) (net *memory.Network, all []*holder, third *holder) {
	net = memory.New(memory.Options{Seed: seed})
	cfg := failaware.Config{Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}
	for _, app := range applications(2, 10_000) {
		cfg.ID++
		all = append(all, start(t, cfg, replicate.Config{}, app))
	}
	meet(all[0].Node())
	submit(t, all[0], "large")
	net.Partition(large, apart)
	cfg.ID = 3
	return net, all, start(t, cfg, replicate.Config{MaxSnapshot: 5000}, &words{})
}

// A node whose MaxSnapshot is below the size of the state of others says so, and ends. The others
// go on: without it if it joins, and with what it had if states are merged.
func TestANodeEndsThatDoesNotTakeTheState(t *testing.T) {
	for _, joins := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			net, all, third := besideLarge(t, 17)
			b := third.Node().Bounds()
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

// declinedAndCutOff has a node with a state of its own meet a group whose state it does not take,
// and be cut off again while the states are merged, each time a little later. It returns the delays
// after which the node had ended, and the others did not have its acknowledged operation.
func declinedAndCutOff(t *testing.T) (lost []time.Duration) {
	for k := range 60 {
		delay := time.Duration(100+5*k) * time.Microsecond
		synctest.Test(t, func(t *testing.T) {
			net, all, third := besideLarge(t, uint64(20+k))
			b := third.Node().Bounds()
			time.Sleep(b.Ready + b.View)
			submit(t, third, "apart")
			net.Heal()
			for third.declined() == 0 {
				time.Sleep(20 * time.Microsecond)
			}
			time.Sleep(delay)
			net.Partition(large, apart)
			time.Sleep(b.Notice + b.Depose + b.View)
			if errors.Is(third.Err(), replicate.ErrSnapshotTooLarge) && !slices.Contains(all[0].latest(t), "apart") {
				lost = append(lost, delay)
			}
		})
	}
	return lost
}

// A node that does not take the state of others ends only when they have its own.
func TestANodeEndsWhenOthersHaveItsState(t *testing.T) { require.Empty(t, declinedAndCutOff(t)) }
