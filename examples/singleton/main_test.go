package main

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

// The task of a leader that is stopped has ended, by its own clock, before another node
// leads.
func TestTheTaskEndsBeforeAnotherBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		net := memory.New(memory.Options{Seed: 1})
		var mu sync.Mutex
		var busy, both failaware.Set
		var nodes []*failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: net.Transport()})
			require.NoError(t, err)
			nodes = append(nodes, n)
			running.Go(func() {
				for {
					lead, release, err := n.Lead(ctx)
					if err != nil {
						return
					}
					mu.Lock()
					busy.Add(id)
					if busy.Len() > 1 {
						both = both.Union(busy)
					}
					mu.Unlock()
					work(lead, n)
					mu.Lock()
					busy.Remove(id)
					mu.Unlock()
					release()
				}
			})
		}
		b := nodes[0].Bounds()
		time.Sleep(b.Rejoin + b.Elect)
		for range 5 {
			mu.Lock()
			require.Equal(t, 1, busy.Len())
			first := busy.Min()
			mu.Unlock()
			net.Pause(first)
			time.Sleep(b.Elect)
			mu.Lock()
			require.Equal(t, 1, busy.Len())
			require.False(t, busy.Has(first))
			mu.Unlock()
			net.Resume(first)
			time.Sleep(b.View)
		}
		require.True(t, both.Empty(), "at once: %v", both)
	})
}
