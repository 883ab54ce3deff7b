package failaware

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
)

// handedOver has the leader of two nodes give a hold and resign at once. It
// reports how much of the hold was left when the other one was first seen to lead.
func handedOver(t *testing.T) time.Duration {
	timing := LAN()
	timing.LockTime, timing.MaxLockTime = 400*time.Millisecond, 400*time.Millisecond
	a := startNode(t, Config{ID: 1, Timing: timing})
	b := startNode(t, Config{ID: 2, Timing: timing, Peers: []Peer{{1, a.Addr().String()}}})
	defer a.Close()
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		eventually(t, "one leads both", func() bool { return inOneView(a, b) && (a.Leads() || b.Leads()) })
		first, second := a, b
		if b.Leads() {
			first, second = b, a
		}
		h, err := first.Hold(ctx)
		if err != nil || first.Leader().Support.Len() != 2 {
			continue // lost meanwhile, which a busy machine can do
		}
		if first.Resign(ctx) != nil {
			continue
		}
		require.False(t, first.Leads())
		eventually(t, "one leads again", func() bool { return first.Leads() || second.Leads() })
		left := h.ValidFor()
		if second.Leads() && second.Leader().Support.Len() == 2 {
			return left
		}
		// A busy machine made the nodes deaf to each other, so that the first led again.
	}
}

func TestTheNextLeaderWaitsForHolds(t *testing.T) { require.Zero(t, handedOver(t)) }

func TestHoldsOfOneLead(t *testing.T) {
	nodes := startGlobalGroup(t, 2)
	ctx := t.Context()
	var l *Node
	eventually(t, "two holds are of one lead", func() bool {
		if l = globalLeaderOf(nodes...); l == nil {
			return false
		}
		first, err := l.HoldGlobally(ctx)
		if err != nil {
			return false
		}
		second, err := l.HoldGlobally(ctx)
		if err != nil {
			return false
		}
		require.True(t, first.Global)
		require.Equal(t, l.ID(), first.By.Node)
		require.LessOrEqual(t, first.ValidFor(), l.Config().Timing.LockTime)
		return first.By == second.By && first.Since == second.Since && second.ValidFor() > 0
	})
	checkNextLead(t, l, nodes)
	checkHoldsAlone(t, l, nodes)
}

// checkNextLead requires that holds of another lead of a node have a later beginning.
func checkNextLead(t *testing.T, l *Node, nodes []*Node) {
	ctx := t.Context()
	before, err := l.Hold(ctx)
	eventually(t, "another lead has another beginning", func() bool {
		if err != nil {
			before, err = l.Hold(ctx)
			return false
		}
		_ = l.Resign(ctx)
		after, again := l.Hold(ctx)
		for ; again != nil && ctx.Err() == nil; after, again = l.Hold(ctx) {
			for _, n := range nodes {
				_ = n.Resign(ctx)
			}
			time.Sleep(l.Config().Timing.ElectionPeriod)
		}
		return after.Since > before.Since
	})
}

// checkHoldsAlone closes all nodes except one, which then holds its own partition only.
func checkHoldsAlone(t *testing.T, l *Node, nodes []*Node) {
	ctx := t.Context()
	for _, n := range nodes {
		if n != l {
			require.NoError(t, n.Close())
		}
	}
	eventually(t, "it leads alone", func() bool {
		_, global := l.HoldGlobally(ctx)
		_, local := l.Hold(ctx)
		var lost *NotLeaderError
		if global != nil {
			require.ErrorAs(t, global, &lost)
			require.True(t, lost.Global)
			require.Equal(t, leader.NoReason, lost.Reason)
		}
		return global != nil && local == nil
	})
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.Hold(done); err != nil { // unless the answer was there already
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, l.Close())
	_, err := l.Hold(ctx)
	require.ErrorIs(t, err, ErrClosed)
}
