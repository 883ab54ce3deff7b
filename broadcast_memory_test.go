package failaware_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/sim/memory"
)

// member is a node with its deliveries and the messages that it has broadcast.
type member struct {
	*failaware.Node
	mu    sync.Mutex
	items []failaware.Delivery
	sent  []failaware.MessageID
}

// startMembers starts nodes in memory that keep their deliveries.
func startMembers(t *testing.T, net *memory.Network, count int, b failaware.BroadcastConfig) (all []*member) {
	for i := range count {
		n, err := failaware.Start(t.Context(), failaware.Config{ID: failaware.NodeID(i + 1), Transport: net.Transport(), Broadcast: &b})
		require.NoError(t, err)
		m := &member{Node: n}
		all = append(all, m)
		over := make(chan struct{})
		go func() {
			defer close(over)
			for d, err := range n.Deliveries(context.Background()) {
				if err != nil {
					return
				}
				m.mu.Lock()
				m.items = append(m.items, d.Clone())
				m.mu.Unlock()
			}
		}()
		t.Cleanup(func() { _ = n.Close(); <-over })
	}
	return all
}

// talk broadcasts with all combinations of options until a time has passed.
func talk(t *testing.T, all []*member, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var wg sync.WaitGroup
	for _, m := range all {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id, err := m.Broadcast(ctx, fmt.Appendf(nil, "%v-%d-%d", m.ID(), len(m.sent), i),
					failaware.BroadcastOptions{Order: failaware.Order(i % 3), Atomicity: failaware.Atomicity(i / 3 % 3)})
				if err == nil {
					m.sent = append(m.sent, id)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// stretch holds the deliveries of a node between two views.
type stretch struct {
	from, to  failaware.ViewID
	ordered   []string
	unordered map[string]bool // by text, and whether transitional
	mark      int             // how many ordered ones came before the transition
}

// stretches cuts a node's deliveries at its views, and checks the promises that
// concern one node.
func stretches(t *testing.T, m *member) (out []stretch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s stretch
	seen := map[failaware.MessageID]bool{}
	transition := false
	for _, d := range m.items {
		switch c := d.Change.(type) {
		case nil:
			require.False(t, seen[d.ID], "node %v delivers %v twice", m.ID(), d.ID)
			seen[d.ID] = true
			require.Equal(t, s.from, d.View.ID)
			require.Equal(t, transition, d.Transitional)
			if d.Order == failaware.Unordered {
				s.unordered[string(d.Payload)] = d.Transitional
			} else {
				s.ordered = append(s.ordered, string(d.Payload))
				require.Equal(t, uint64(len(s.ordered)), d.Position)
			}
		case failaware.TransitionBegins:
			transition = true
			s.mark, s.to = len(s.ordered), c.Next.ID
			require.Equal(t, s.from, d.View.ID)
		case failaware.ViewChange:
			require.Equal(t, s.to, s.to)
			require.Equal(t, s.from, c.Previous)
			require.True(t, s.from.None() || transition && s.to == d.View.ID)
			if !s.from.None() {
				out = append(out, s)
			}
			s, transition = stretch{from: d.View.ID, unordered: map[string]bool{}}, false
		}
	}
	return append(out, s)
}

// A group splits and merges under load. Nodes that move together from view to view
// deliver the same messages in the same order, with the transition at the same place;
// and a node delivers every message that it broadcast, or learns that the outcome is
// unknown.
func TestStreamsAgreeOverAPartitionAndAMerge(t *testing.T) {
	seeds := uint64(4)
	if race.Enabled {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := memory.New(memory.Options{Seed: seed, Buffer: 1 << 12})
				all := startMembers(t, net, 5, failaware.BroadcastConfig{})
				b := all[0].Bounds()
				time.Sleep(b.Ready + b.View)
				talk(t, all, b.View/2)
				net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5})
				talk(t, all, 2*b.View)
				net.Heal()
				net.Loss(0.02)
				talk(t, all, b.View)
				net.Loss(0)
				time.Sleep(2 * b.View)
				for _, m := range all {
					_, err := m.BroadcastAndWait(t.Context(), fmt.Appendf(nil, "last of %v", m.ID()),
						failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.StrictAtomicity})
					require.NoError(t, err)
				}
				time.Sleep(b.View)
				compare(t, all)
			})
		})
	}
}

// compare holds the streams of all nodes against each other.
func compare(t *testing.T, all []*member) {
	moves := map[[2]failaware.ViewID]stretch{}
	together, transitional := 0, 0
	for _, m := range all {
		for _, s := range stretches(t, m) {
			key := [2]failaware.ViewID{s.from, s.to}
			other, known := moves[key]
			if !known {
				moves[key] = s
				continue
			}
			together++
			require.Equal(t, other.ordered, s.ordered, "node %v, view %v", m.ID(), s.from)
			require.Equal(t, other.mark, s.mark)
			require.Equal(t, other.unordered, s.unordered)
			transitional += len(s.ordered) - s.mark
		}
	}
	require.Greater(t, together, len(all), "views before, during and after the partition")
	for _, m := range all {
		outcome := map[failaware.MessageID]bool{}
		lost := 0
		m.mu.Lock()
		for _, d := range m.items {
			switch c := d.Change.(type) {
			case nil:
				outcome[d.ID] = true // of others, too
			case failaware.OutcomeLost:
				for id := c.From; id.Sequence <= c.Through.Sequence; id.Sequence++ {
					require.False(t, outcome[id], "delivered means delivered")
					outcome[id] = true
					lost++
				}
			}
		}
		m.mu.Unlock()
		for _, id := range m.sent {
			require.True(t, outcome[id], "node %v never hears of %v", m.ID(), id)
		}
		require.Less(t, lost, len(m.sent))
	}
	last := all[0].View().View.ID
	for _, m := range all {
		require.Equal(t, last, m.View().View.ID)
	}
}

// As many messages as the window holds are under way for seconds: data never holds up
// the renewal of leases.
func TestSaturationCostsNoLease(t *testing.T) {
	if testing.Short() {
		t.Skip("delivers tens of thousands of messages")
	}
	synctest.Test(t, func(t *testing.T) {
		// The window and the delay bound the load: computing takes no time here.
		net := memory.New(memory.Options{Seed: 9, Buffer: 1 << 13, MinDelay: 2 * time.Millisecond, MaxDelay: 4 * time.Millisecond})
		all := startMembers(t, net, 3, failaware.BroadcastConfig{Window: 256 << 10, MaxPayload: 4 << 10})
		b := all[0].Bounds()
		time.Sleep(b.Ready + b.View)
		first := all[0].View().View.ID
		during := 2 * time.Second
		if race.Enabled {
			during /= 4
		}
		ctx, cancel := context.WithTimeout(t.Context(), during)
		defer cancel()
		var wg sync.WaitGroup
		for _, m := range all {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = m.Broadcast(ctx, make([]byte, 2000), failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.WeakAtomicity})
				}
			})
		}
		wg.Wait()
		for _, m := range all {
			require.Equal(t, first, m.View().View.ID)
			require.True(t, m.View().UpToDate)
			for e := range m.EventsSince(ctx, 0) {
				require.NotEqual(t, "lead-lost", e.Kind())
			}
			m.mu.Lock()
			require.Greater(t, len(m.items), int(during/(400*time.Microsecond)))
			m.mu.Unlock()
		}
	})
}

// A flood of messages of one class leaves room for the other, and for a payload of the
// largest size.
func TestAFloodLeavesRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1, Buffer: 1 << 13})
		net.Delay(time.Millisecond, 2*time.Millisecond)
		b := failaware.BroadcastConfig{Window: 64 << 10, MaxPayload: 32 << 10}
		var all []*failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Transport: net.Transport(), Broadcast: &b})
			require.NoError(t, err)
			all = append(all, n)
			defer n.Close()
			go func() {
				for range n.Deliveries(t.Context()) {
				}
			}()
		}
		time.Sleep(all[0].Bounds().Ready + all[0].Bounds().View)
		for _, order := range []failaware.Order{failaware.Unordered, failaware.TotalOrder} {
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				for ctx.Err() == nil {
					_, _ = all[0].Broadcast(ctx, make([]byte, 100), failaware.BroadcastOptions{Order: order})
				}
			}()
			time.Sleep(200 * time.Millisecond)
			for _, other := range []failaware.Order{failaware.Unordered, failaware.TotalOrder} {
				for _, size := range []int{0, 4000, b.MaxPayload} {
					began := time.Now()
					one, cancel := context.WithTimeout(ctx, 5*time.Second)
					_, err := all[0].BroadcastAndWait(one, make([]byte, size), failaware.BroadcastOptions{Order: other})
					cancel()
					require.NoError(t, err, "%d bytes, %v among %v", size, other, order)
					require.Less(t, time.Since(began), time.Second, "%d bytes, %v among %v", size, other, order)
				}
			}
			stop()
			<-over
		}
	})
}

// Callers in one test's bubble do not meet channels that another bubble has made.
func TestCallersInSeveralBubblesWaitForOutcomes(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			n, err := failaware.Start(t.Context(), failaware.Config{
				ID: 1, Transport: memory.New(memory.Options{Seed: 1}).Transport(), Broadcast: &failaware.BroadcastConfig{}})
			require.NoError(t, err)
			defer n.Close()
			_, err = n.BroadcastAndWait(t.Context(), []byte("x"), failaware.BroadcastOptions{})
			require.NoError(t, err)
		})
	}
}
