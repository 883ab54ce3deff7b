package store

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
)

// Messages of clients pass beside the commands, to all nodes, and change nothing.
func TestMessagesPassBesideTheCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Linearizable, 3, 3)
		defer g.close()
		servers := make([]*api.Server, 3)
		for i, s := range g.stores {
			servers[i] = api.NewServerWithStore(s.node, s)
			defer servers[i].Close()
		}
		g.put(0, "a", "1", 0)
		require.Equal(t, "1", g.get(1, "a"))
		before := g.stores[1].Counts().Applied
		strict := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.StrictAtomicity}
		o, err := g.stores[1].BroadcastAndWait(within(t, time.Minute), []byte("hello"), strict)
		require.NoError(t, err)
		require.NotZero(t, o.Position)
		_, err = g.stores[2].Broadcast(within(t, time.Minute), []byte("world"), failaware.BroadcastOptions{Order: failaware.Unordered})
		require.NoError(t, err)
		time.Sleep(time.Second)
		for i, server := range servers {
			require.Equal(t, api.Traffic{Delivered: 2, DeliveredBytes: 10}, server.Traffic(), "node %d", i+1)
			require.Equal(t, "1", g.get(i, "a"))
		}
		require.Equal(t, before, g.stores[1].Counts().Applied)
	})
}
