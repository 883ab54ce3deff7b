package replicate_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// A member without a replica holds up the others. They name it, after some seconds and then each
// minute, until it has one or has gone.
func TestAMemberWithoutAReplicaIsNamed(t *testing.T) {
	soon, later := silentIsNamed(t)
	require.Equal(t, 1, soon)
	require.Equal(t, 2, later)
}

// silentIsNamed returns how often a member without a replica was named after some seconds and after
// a minute more.
func silentIsNamed(t *testing.T) (soon, later int) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 6})
		all := inMemory(t, net, failaware.BroadcastConfig{}, replicate.Config{}, applications(2, 0)...)
		defer closeAll(t, all)
		submit(t, all[0], "first")
		require.Zero(t, all[0].Progress().Unreported)

		bare, err := failaware.Start(t.Context(), failaware.Config{ID: 9, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}})
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		p := all[0].Progress()
		require.Equal(t, replicate.Reporting, p.Situation)
		require.Equal(t, timed.SetOf(9), p.Unreported)
		require.Empty(t, all[0].silent(), "it may have just begun")
		_, err = all[0].Submit(within(t, time.Second), []byte("held up"))
		require.ErrorIs(t, err, context.DeadlineExceeded)

		time.Sleep(10 * time.Second)
		soon = len(all[0].silent())
		for _, e := range slices.Concat(all[0].silent(), all[1].silent()) {
			require.Equal(t, timed.SetOf(9), e.Members)
			require.Equal(t, p.View, e.View)
			require.Less(t, e.For, 10*time.Second)
			require.Contains(t, e.String(), "nodes {9} have not reported their states for ")
		}
		time.Sleep(time.Minute)
		later = len(all[0].silent())
		require.NoError(t, bare.Close())
		submit(t, all[0], "goes on")
		time.Sleep(time.Second)
		require.Zero(t, all[0].Progress().Unreported)
		time.Sleep(5 * time.Minute)
		require.Len(t, all[0].silent(), later)
	})
	return soon, later
}
