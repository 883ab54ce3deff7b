package replicate_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// meetSenderAgain has a quorum apply an operation whose sender does not hear of it. The
// processes of the quorum start again, and meet the sender. late says that they get
// their states after that. It returns what the members have in the end, and the error of
// the sender, or nothing if the sender was the one that ordered the operation.
func meetSenderAgain(t *testing.T, seed uint64, late bool) (lists [][]string, outcome error) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: seed}), t.TempDir()
		all := onDisks(t, net, dir, true, 1, 2, 3)
		bounds := all[0].Node().Bounds()
		require.True(t, submit(t, all[0], "first").Lasting)
		net.Cut(1, 3)
		net.Cut(2, 3)
		failed := make(chan error, 1)
		go func() {
			_, err := all[2].Submit(within(t, 5*time.Minute), []byte("apart"))
			failed <- err
		}()
		time.Sleep(2 * bounds.View)
		two := all[:2]
		require.True(t, submit(t, two[1], "second").Lasting)
		ordered := slices.Contains(two[0].latest(t), "apart")
		all[2].Read(func() { ordered = ordered && len(all[2].app.list) == 1 })
		if !ordered {
			closeAll(t, all)
			return
		}
		closeAll(t, two)
		if late {
			two = lateOnDisks(t, net, dir, 1, 2)
		} else {
			two = onDisks(t, net, dir, true, 1, 2)
			net.Heal()
			time.Sleep(2 * bounds.View)
		}
		outcome = <-failed
		require.True(t, submit(t, two[0], "last").Lasting)
		for _, h := range append(two, all[2]) {
			lists = append(lists, h.latest(t))
		}
		closeAll(t, append(two, all[2]))
	})
	return lists, outcome
}

// lateOnDisks starts nodes that have joined a view with all others when they get the state
// in their directories.
func lateOnDisks(t *testing.T, net *memory.Network, dir string, ids ...failaware.NodeID) (all []*holder) {
	net.Heal()
	for _, id := range ids {
		n, err := failaware.Start(context.Background(), failaware.Config{ID: id, Transport: net.Transport(), StateDir: filepath.Join(dir, "node"),
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}, Quorum: majority(t, 3)})
		require.NoError(t, err)
		all = append(all, &holder{app: &words{}})
		t.Cleanup(func() { _ = n.Close() })
		defer func(h *holder) {
			h.Replica, err = replicate.Start(n, h.app, replicate.Config{Storage: filepath.Join(dir, fmt.Sprint("state", id))})
			require.NoError(t, err)
		}(all[len(all)-1])
	}
	time.Sleep(time.Second)
	return all
}

// appliesTwice reports whether some member applies an operation a second time, or its sender
// never hears of it.
func appliesTwice(t *testing.T, late bool) bool {
	for seed := range uint64(10) {
		lists, err := meetSenderAgain(t, seed, late)
		if lists == nil {
			continue
		}
		for _, list := range lists {
			if strings.Count(strings.Join(list, " "), "apart") != 1 {
				return true
			}
			require.Equal(t, lists[0], list)
		}
		require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
		var unknown *failaware.UnknownOutcomeError
		require.True(t, errors.As(err, &unknown))
		return unknown.Reason == failaware.NotAwaited
	}
	require.Fail(t, "the sender orders its operation itself in all worlds")
	return false
}

// A process that starts again knows which operations it has, though their senders do not
// know that they were ordered.
func TestAnOperationOnADiskIsNotAppliedAgain(t *testing.T) { require.False(t, appliesTwice(t, false)) }

// A node that got its state after it had told others that it knows of no operation begins
// another incarnation.
func TestAStateThatComesLateIsNotAppliedAgain(t *testing.T) { require.False(t, appliesTwice(t, true)) }
