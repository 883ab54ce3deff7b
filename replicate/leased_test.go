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

// Reads by lease send nothing: the numbers of a node's messages are those of its
// operations. They show what any node has submitted.
func TestReadsByLeaseSendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := inMemory(t, memory.New(memory.Options{Seed: 3}), failaware.BroadcastConfig{RequireQuorum: true}, replicate.Config{}, applications(3, 0)...)
		meet(all[0].Node())
		_, err := all[2].ReadLeased(within(t, time.Second), func() {}) // nothing was submitted yet
		require.NoError(t, err)
		first := submit(t, all[0], "first")
		for range 100 {
			submit(t, all[1], "other")
			seen := 0
			fresh, err := all[0].ReadLeased(t.Context(), func() { seen = len(all[0].app.list) })
			require.NoError(t, err)
			require.True(t, fresh.UpToDate)
			require.Len(t, all[1].app.list, seen)
		}
		require.Equal(t, first.ID.Sequence+1, submit(t, all[0], "last").ID.Sequence)
	})
}

// staleReads reads by lease all the time while three nodes are cut off from each other. It
// returns how many reads of a view succeeded, and how many of these when it was not up to
// date.
func staleReads(t *testing.T) (reads, stale int) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 4})
		all := inMemory(t, net, failaware.BroadcastConfig{RequireQuorum: true}, replicate.Config{}, applications(3, 0)...)
		b := meet(all[0].Node())
		submit(t, all[0], "word")
		net.Partition([]failaware.NodeID{1}, []failaware.NodeID{2}, []failaware.NodeID{3})
		given, cancel := context.WithCancel(t.Context())
		cancel() // a read that would have to wait gives up
		for end := time.Now().Add(b.View); time.Now().Before(end); time.Sleep(20 * time.Microsecond) {
			for _, h := range all {
				if fresh, err := h.ReadLeased(given, func() {}); err == nil {
					reads++
					if fresh.AtMost == 0 {
						stale++
					}
				}
			}
		}
	})
	return reads, stale
}

func TestReadsByLeaseEndWithIt(t *testing.T) {
	reads, stale := staleReads(t)
	require.NotZero(t, reads)
	require.Zero(t, stale)
}

// BenchmarkReadLeased reads the state of a lone node by lease, with the clock of the
// machine, by one goroutine and by as many as there are processors.
func BenchmarkReadLeased(b *testing.B) {
	h := start(b, failaware.Config{ID: 1, Listen: "127.0.0.1:0", Timing: failaware.WAN(), Quorum: majority(b, 1),
		Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}, replicate.Config{}, &words{})
	for !h.Progress().Accepting {
		time.Sleep(time.Millisecond)
	}
	submit(b, h, "word")
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		seen := 0
		for look := func() { seen = len(h.app.list) }; b.Loop(); {
			_, _ = h.ReadLeased(b.Context(), look)
		}
		require.Equal(b, 1, seen)
	})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			seen := 0
			for look := func() { seen = len(h.app.list) }; pb.Next(); {
				_, _ = h.ReadLeased(b.Context(), look)
			}
			_ = seen
		})
	})
}
