package replicate_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// The application of one node hangs. The group goes on, over changes of the view, and the
// node tells of it. When too much waits, the node leaves, and has the state again later.
func TestAHungApplicationHoldsUpNobody(t *testing.T) {
	all := hangs
	if race.Enabled {
		all = all[len(all)-1:]
	}
	for _, h := range all {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { require.NoError(t, hang(t, h)) })
		})
	}
}

// hung is how much may wait for an application.
type hung struct {
	name            string
	queued, backlog int
	leaves          bool
}

var hangs = []hung{{"little waits", 0, 0, false}, {"much waits", 1 << 10, 0, false}, {"too much waits", 1 << 10, 1 << 14, true}}

// hang returns the error of an operation of another node after a change of the view.
func hang(t testing.TB, h hung) error {
	net := memory.New(memory.Options{Seed: 6})
	apps := applications(5, 0)
	apps[2].gate = make(chan struct{})
	cast := failaware.BroadcastConfig{RequireQuorum: true, SlowAfter: time.Second, Backlog: h.backlog}
	all := inMemory(t, net, cast, replicate.Config{MaxQueued: h.queued}, apps...)
	b := meet(all[0].Node())
	boot := all[2].Node().Status().Boot
	submit(t, all[0], "wait")
	for i := range 1100 {
		submit(t, all[0], fmt.Sprint("w", i))
	}
	require.NoError(t, all[1].Close())
	time.Sleep(2 * b.View)
	if _, err := all[0].Submit(within(t, time.Minute), []byte("more")); err != nil {
		close(apps[2].gate)
		return err
	}
	time.Sleep(15 * time.Second)
	require.Equal(t, h.leaves, all[2].Node().Status().Boot != boot, "the node leaves if too much waits")
	require.Len(t, all[2].hung(), 1)
	require.Greater(t, all[2].hung()[0].For, 10*time.Second)
	require.Positive(t, all[2].hung()[0].Waiting)
	require.Empty(t, all[0].hung())
	close(apps[2].gate)
	time.Sleep(20 * time.Second)
	submit(t, all[2], "last")
	require.Equal(t, all[0].latest(t), all[2].latest(t))
	require.Len(t, all[0].latest(t), 1103)
	return nil
}
