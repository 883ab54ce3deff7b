package replicate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// Nodes that have restarted are a quorum, and remember nothing. They acknowledge nothing
// before those come back that do, so nothing that was acknowledged is lost.
func TestAQuorumThatHasForgottenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 8})
		cast := failaware.BroadcastConfig{RequireQuorum: true}
		all := inMemory(t, net, cast, replicate.Config{}, applications(5, 0)...)
		b := meet(all[0].Node())
		require.Len(t, all[0].begins(), 1)
		require.True(t, all[0].begins()[0].Remember.Empty())
		submit(t, all[0], "kept")
		net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5})
		for i := range 3 {
			restart(t, net, cast, all, i)
		}
		time.Sleep(b.Ready + 2*b.View)
		_, err := all[0].Submit(within(t, time.Second), []byte("lost"))
		require.ErrorIs(t, err, replicate.ErrRecovering)
		require.ErrorIs(t, err, replicate.ErrNotAccepting)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "too few members remember the state, and nodes {4 5} are absent")
		require.Equal(t, replicate.Recovering, all[0].Progress().Situation)
		require.Equal(t, "{4 5}", all[0].Progress().Absent.String())
		require.NotEmpty(t, all[0].awaited())
		_, err = all[1].ReadLatest(within(t, time.Second), func() { t.Error("read what nobody remembers") })
		require.ErrorIs(t, err, replicate.ErrRecovering)
		net.Heal()
		time.Sleep(2 * b.View)
		submit(t, all[1], "more")
		for _, h := range all {
			require.Equal(t, []string{"kept", "more"}, h.latest(t))
		}
		require.Equal(t, "{4 5}", all[0].begins()[0].Remember.String())
	})
}

// An operator may give up what absent nodes remember.
func TestBootstrapEndsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 9})
		cast := failaware.BroadcastConfig{RequireQuorum: true}
		all := inMemory(t, net, cast, replicate.Config{}, applications(3, 0)...)
		b := meet(all[0].Node())
		submit(t, all[0], "kept")
		require.NoError(t, all[2].Bootstrap(t.Context()), "it waits for nothing")
		require.NoError(t, all[1].Close())
		restart(t, net, cast, all, 2)
		time.Sleep(b.Ready + 2*b.View)
		require.Equal(t, replicate.Recovering, all[0].Progress().Situation)
		require.NoError(t, all[2].Bootstrap(within(t, time.Minute)))
		require.Equal(t, []string{"kept"}, all[2].latest(t))
		submit(t, all[2], "more")
		require.Equal(t, "{2}", all[2].begins()[0].Absent.String())
	})
}

// A group whose processes all restart begins anew, and says so.
func TestAGroupThatHasForgottenEverythingBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 10})
		cast := failaware.BroadcastConfig{RequireQuorum: true}
		all := inMemory(t, net, cast, replicate.Config{}, applications(3, 0)...)
		b := meet(all[0].Node())
		submit(t, all[0], "gone")
		for i := range all {
			require.NoError(t, all[i].Close())
		}
		restart(t, net, cast, all, 0)
		restart(t, net, cast, all, 1)
		time.Sleep(b.Ready + 2*b.View)
		require.Equal(t, replicate.Recovering, all[0].Progress().Situation)
		restart(t, net, cast, all, 2)
		time.Sleep(b.Ready + 2*b.View)
		require.Empty(t, all[0].latest(t))
		require.NotEmpty(t, all[0].begins())
	})
}

// A read that lasts until the view has changed is of no view.
func TestAReadDuringWhichTheViewChangesIsNotUpToDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 3})
		all := inMemory(t, net, failaware.BroadcastConfig{}, replicate.Config{}, applications(2, 0)...)
		b := meet(all[0].Node())
		submit(t, all[0], "one")
		r := all[0].Replica
		parts := func() {
			net.Partition([]failaware.NodeID{1}, []failaware.NodeID{2})
			time.Sleep(2 * b.View)
		}
		require.False(t, r.Read(parts).UpToDate)
		require.True(t, r.Read(func() {}).UpToDate)
		net.Heal()
		time.Sleep(4 * b.View)
		fresh, err := r.ReadLatest(within(t, time.Minute), parts)
		require.NoError(t, err)
		require.False(t, fresh.UpToDate)
		require.True(t, r.Read(func() {}).UpToDate)
	})
}
