package replicate_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

// majorityOf returns the quorum system of the majorities of some nodes.
func majorityOf(t testing.TB, ids ...failaware.NodeID) quorum.System {
	q, err := quorum.Majority(timed.SetOf(ids...))
	require.NoError(t, err)
	return q
}

// inEpochs starts nodes with state directories. The first three begin with the majorities of
// them, and the others join.
func inEpochs(t *testing.T, net *memory.Network, dir string, stored bool, ids ...failaware.NodeID) (all []*holder) {
	for _, id := range ids {
		c := failaware.Config{ID: id, Transport: net.Transport(), StateDir: filepath.Join(dir, "node"), JoinQuorum: id > 3,
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}
		if !c.JoinQuorum {
			c.Quorum = majorityOf(t, 1, 2, 3)
		}
		r := replicate.Config{}
		if stored {
			r.Storage = filepath.Join(dir, fmt.Sprint("state", id))
		}
		all = append(all, start(t, c, r, &words{}))
	}
	return all
}

// leading waits for a node that leads globally.
func leading(all []*holder) *failaware.Node {
	for {
		for _, h := range all {
			if h.Node().LeadsGlobally() {
				return h.Node()
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// write submits words until the context ends, and returns those that were acknowledged.
func (h *holder) write(ctx context.Context) (acked []string) {
	for k := 0; ctx.Err() == nil; k++ {
		word := fmt.Sprint("w", k)
		if a, err := h.Submit(ctx, []byte(word)); err == nil && a.Lasting {
			acked = append(acked, word)
		}
		time.Sleep(time.Millisecond)
	}
	return acked
}

// replaceQuorum replaces the quorum system of a group while it writes, and stops those that are
// no members any more as soon as it may. It returns what goes wrong.
func replaceQuorum(t *testing.T, stored bool) (wrong string) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 3}), t.TempDir()
		all := inEpochs(t, net, dir, stored, 1, 2, 3, 4, 5)
		if _, err := all[0].Submit(within(t, time.Minute), []byte("first")); err != nil {
			wrong = fmt.Sprint("nodes 4 and 5 do not learn the epoch: ", err)
			return
		}
		time.Sleep(3 * time.Second)
		l := leading(all)
		if err := l.ChangeQuorum(within(t, time.Minute), majorityOf(t, 4, 5, 6, 7)); !errors.Is(err, failaware.ErrStateNotReady) {
			wrong = fmt.Sprint("only nodes 4 and 5 have the state of all that are to have it: ", err)
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		acked := make(chan []string)
		go func() { acked <- all[4].write(ctx) }()
		time.Sleep(100 * time.Millisecond)
		if err := l.ChangeQuorum(within(t, time.Minute), majorityOf(t, 3, 4, 5)); err != nil {
			wrong = fmt.Sprint("the system is not replaced: ", err)
		}
		require.NoError(t, all[0].Close())
		require.NoError(t, all[1].Close())
		time.Sleep(3 * time.Second)
		cancel()
		list := append(<-acked, "first")
		var has []string
		if _, err := all[3].ReadLatest(within(t, time.Minute), func() { has = slices.Clone(all[3].app.list) }); err != nil && wrong == "" {
			wrong = fmt.Sprint("the quorum of the next system does not go on: ", err)
		}
		for i, w := range has {
			if slices.Contains(has[:i], w) {
				wrong = w + " was applied twice"
			}
		}
		if wrong == "" {
			require.Subset(t, has, list)
			require.Greater(t, len(list), 100)
			require.Equal(t, []event.RestartReason{event.NewEpoch}, restarts(all[2].Node()))
		}
	})
	return wrong
}

// restarts returns why incarnations of a node have ended so far.
func restarts(n *failaware.Node) (why []event.RestartReason) {
	soFar, cancel := context.WithTimeout(context.Background(), 1)
	defer cancel()
	for e := range n.EventsSince(soFar, 0) {
		if r, ok := e.(event.Restarted); ok {
			why = append(why, r.Reason)
		}
	}
	return why
}

func TestTheQuorumOfAStateIsReplaced(t *testing.T) {
	all := []bool{true, false}
	if race.Enabled {
		all = all[:1]
	}
	for _, stored := range all {
		require.Empty(t, replaceQuorum(t, stored), "stored: %v", stored)
	}
}

// Two of three members are lost, and the last one is forced to go on. It says that it may know
// less than they did, until an operator takes that.
func TestAForcedQuorumWaitsForAnOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 4}), t.TempDir()
		all := inEpochs(t, net, dir, true, 1, 2, 3)
		require.True(t, submit(t, all[0], "precious").Lasting)
		require.NoError(t, all[1].Close())
		require.NoError(t, all[2].Close())
		n := all[0].Node()
		time.Sleep(2 * n.Config().Timing.Expires) // it hears them no more, also indirectly
		require.NoError(t, n.ForceQuorum(t.Context(), majorityOf(t, 1), timed.SetOf(2, 3)))
		time.Sleep(3 * time.Second)
		require.EqualValues(t, 2, n.Epoch().Epoch)
		require.Equal(t, timed.SetOf(2, 3), all[0].Progress().Absent)
		_, err := all[0].SubmitWith(t.Context(), []byte("new"), failaware.BroadcastOptions{Order: failaware.TotalOrder, NoWait: true})
		require.ErrorIs(t, err, replicate.ErrRecovering)
		require.NoError(t, all[0].Bootstrap(within(t, time.Minute)))
		require.True(t, submit(t, all[0], "new").Lasting)
		require.Equal(t, []string{"precious", "new"}, all[0].latest(t))
		require.Equal(t, timed.SetOf(2, 3), all[0].begins()[1].Absent)
	})
}
