package replicate_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// All applications are slow at the same time, and all nodes begin another incarnation. No
// process ends, so nothing is lost that was acknowledged.
func TestAStateOutlivesTheIncarnationsOfAllNodes(t *testing.T) {
	for _, quorum := range []bool{true, false} {
		t.Run(fmt.Sprint("quorum ", quorum), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { slowTogether(t, quorum) })
		})
	}
}

func slowTogether(t *testing.T, quorum bool) {
	net := memory.New(memory.Options{Seed: 6})
	c := failaware.BroadcastConfig{RequireQuorum: quorum, Backlog: 1 << 12, SlowAfter: 100 * time.Millisecond}
	apps := applications(3, 0)
	for _, a := range apps {
		a.gate = make(chan struct{})
	}
	all := inMemory(t, net, c, replicate.Config{MaxQueued: 1 << 10}, apps...)
	meet(all[0].Node())
	require.Equal(t, quorum, submit(t, all[1], "one").Lasting)
	var boots []failaware.BootID
	for _, h := range all {
		boots = append(boots, h.Node().Status().Boot)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	go func() { _, _ = all[0].Submit(ctx, []byte("wait")) }()
	time.Sleep(10 * time.Millisecond)
	strict := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.StrictAtomicity}
	for i := range 3000 {
		_, _ = all[i%3].Node().Broadcast(ctx, replica.AppendOp(nil, session.AppendPlain(nil, fmt.Appendf(nil, "w%d", i))), strict)
	}
	time.Sleep(2 * time.Second)
	for _, a := range apps {
		close(a.gate)
	}
	time.Sleep(20 * time.Second)
	for i, h := range all {
		require.NotEqual(t, boots[i], h.Node().Status().Boot)
		require.Contains(t, h.latest(t), "one")
	}
	require.Equal(t, all[0].latest(t), all[1].latest(t))
	require.Equal(t, all[0].latest(t), all[2].latest(t))
}
