package failaware

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/loop"
)

func TestLeaderContextEndsWithTheLead(t *testing.T) {
	n := startNode(t, Config{ID: 1, Timing: LAN()})
	parent, end := context.WithTimeout(t.Context(), patience)
	defer end()
	ctx, cancel, err := n.Lead(parent)
	require.NoError(t, err)
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()
	require.Equal(t, parent.Value(0), ctx.Value(0))
	if err := n.Resign(parent); err != nil {
		require.ErrorIs(t, err, ErrNotLeader) // a busy machine: lost before
	}
	<-child.Done()
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(ctx), ErrNotLeader)
	require.ErrorIs(t, context.Cause(child), ErrNotLeader)
	var why *NotLeaderError
	require.ErrorAs(t, context.Cause(ctx), &why)

	// Another lead is another context.
	again, cancelAgain, err := n.Lead(parent)
	require.NoError(t, err)
	require.Error(t, ctx.Err())
	cancelAgain()
	require.ErrorIs(t, context.Cause(again), context.Canceled)
}

func TestLeaderContextOfAFollower(t *testing.T) {
	n := startNode(t, Config{ID: 1, Timing: WAN()}) // not even ready yet
	ctx, cancel, err := n.LeaderContext(t.Context())
	defer cancel()
	require.ErrorIs(t, err, ErrNotLeader)
	require.Error(t, ctx.Err())
	require.NoError(t, n.Close())
	_, cancel, err = n.LeaderContext(t.Context())
	defer cancel()
	require.ErrorIs(t, err, ErrClosed)
	_, cancel, err = n.Lead(t.Context())
	defer cancel()
	require.ErrorIs(t, err, ErrClosed)
}

func TestLeadEndsWithItsContext(t *testing.T) {
	n := startNode(t, Config{ID: 1, Timing: WAN()})
	parent, end := context.WithCancel(t.Context())
	end()
	ctx, cancel, err := n.Lead(parent)
	defer cancel()
	require.ErrorIs(t, err, context.Canceled)
	require.Error(t, ctx.Err())
	_, err = n.WaitLeader(parent)
	require.ErrorIs(t, err, context.Canceled)
}

func TestLeaderContextEndsWithTheNode(t *testing.T) {
	n := startNode(t, Config{ID: 1, Timing: LAN()})
	ctx, cancel, err := n.Lead(t.Context())
	require.NoError(t, err)
	defer cancel()
	require.NoError(t, n.Close())
	require.Error(t, ctx.Err())
	<-ctx.Done()
}

// After a stop of the whole process no goroutine has run yet, and the first
// look at the context tells all the same: here nothing else ever runs.
func TestLeaderContextReadsTheClockItself(t *testing.T) {
	clock, err := machineClock()
	require.NoError(t, err)
	r := clock.Read()
	lease := leading(r.Now.Add(time.Hour), r.Era)
	phase := lease.Phase
	fresh := func() *leaderContext {
		inner, cancel := context.WithCancelCause(t.Context())
		return &leaderContext{Context: inner, cancel: cancel, load: func() *loop.Snapshot { return lease }, read: clock.Read,
			phase: phase, margin: Local().SchedulingDelay}
	}
	byErr, byDone := fresh(), fresh()
	require.NoError(t, byErr.Err())
	require.False(t, isClosed(byDone.Done()))

	stopped := *lease // as if the lease had been shorter, and the process stopped
	stopped.Expiration = clock.Now().Add(Local().SchedulingDelay)
	lease = &stopped
	require.ErrorIs(t, byErr.Err(), context.Canceled, "the margin before the end counts")
	require.True(t, isClosed(byErr.Done()))
	require.True(t, isClosed(byDone.Done()))
	require.ErrorIs(t, context.Cause(byDone), ErrNotLeader)
	require.ErrorIs(t, byDone.Err(), context.Canceled)
}

// Leader contexts of a node end as long before the lease as a timely process may take to act.
func TestLeaderContextsLeaveTimeToAct(t *testing.T) {
	n := startNode(t, Config{ID: 1, Quorum: system(t, "majority:1")})
	for _, lead := range []func(context.Context) (context.Context, context.CancelFunc, error){n.Lead, n.LeadGlobally} {
		ctx, cancel, err := lead(t.Context())
		require.NoError(t, err)
		require.Equal(t, n.cfg.Timing.SchedulingDelay, ctx.(*leaderContext).margin)
		cancel()
	}
}

// wakes returns how long a goroutine that only waits sleeps on after the end of a lead, whose lease
// would last for an hour. It runs in virtual time.
func wakes(t *testing.T) (after time.Duration) {
	clock, err := machineClock()
	require.NoError(t, err)
	r := clock.Read()
	synctest.Test(t, func(t *testing.T) {
		lease := leading(r.Now.Add(time.Hour), r.Era)
		var published atomic.Pointer[loop.Snapshot]
		published.Store(lease)
		inner, cancel := context.WithCancelCause(t.Context())
		c := &leaderContext{Context: inner, cancel: cancel, load: published.Load, read: clock.Read, phase: lease.Phase}
		go c.watch()
		synctest.Wait()
		require.NoError(t, c.Err())
		begun, over := time.Now(), &loop.Snapshot{Phase: &loop.Phase{Over: make(chan struct{})}, Era: r.Era}
		published.Store(over)
		close(lease.Phase.Over)
		<-inner.Done()
		after = time.Since(begun)
	})
	return after
}

func TestLeaderContextWakesThoseWhoOnlyWait(t *testing.T) { require.Zero(t, wakes(t)) }

// A node that does not lead says so, and who does, instead of why a lead has ended.
func TestLeaderContextWithoutALead(t *testing.T) {
	g := startGroup(t, 2)
	var refused *NotLeaderError
	eventually(t, "the follower names the leader", func() bool {
		for i, n := range g {
			_, cancel, err := n.LeaderContext(t.Context())
			cancel()
			if errors.As(err, &refused) && refused.Leader == g[1-i].ID() {
				require.ErrorContains(t, err, fmt.Sprintf("this node does not lead; node %v does, as far as it knows", refused.Leader))
				return true
			}
		}
		return false
	})
	for _, ask := range []func() error{
		func() error { _, cancel, err := g[0].LeadGlobally(t.Context()); cancel(); return err },
		func() error { _, cancel, err := g[0].GlobalLeaderContext(t.Context()); cancel(); return err },
		func() error { _, err := g[0].HoldGlobally(t.Context()); return err },
		func() error { _, err := g[0].Edict(nil); return err },
	} {
		err := ask()
		require.ErrorAs(t, err, &refused)
		require.True(t, refused.Global)
		require.EqualError(t, err, "failaware: this node does not lead globally, ever: it has no quorum system")
	}
}
