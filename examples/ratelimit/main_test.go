package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

// group starts nodes with a limit, and waits until they have a view of all.
func group(t *testing.T, size int, rate float64) (*memory.Network, []*limiter) {
	net := memory.New(memory.Options{Seed: 1})
	var all []*limiter
	for id := range failaware.NodeID(size) {
		n, err := failaware.Start(t.Context(), failaware.Config{ID: id + 1, Transport: net.Transport()})
		require.NoError(t, err)
		all = append(all, &limiter{node: n, group: size, rate: rate})
	}
	b := all[0].node.Bounds()
	time.Sleep(b.Rejoin + b.View)
	return net, all
}

// The group never exceeds its limit, whatever happens to the network, and uses most of it
// while a majority is connected.
func TestTheGroupKeepsItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, size = 100.0, 5
		net, all := group(t, size, rate)
		// during counts the permits of a time in which all nodes want more than there are.
		during := func(d time.Duration) (permits [size]int) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Millisecond) {
				for i, l := range all {
					if l.allow() {
						permits[i]++
					}
				}
			}
			total := 0
			for _, p := range permits {
				total += p
			}
			require.LessOrEqual(t, float64(total), rate*d.Seconds()+size, "a permit may be saved at each node")
			return permits
		}
		for _, p := range during(10 * time.Second) {
			require.InDelta(t, 200, p, 20, "each has a fifth")
		}
		net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5})
		during(time.Second)
		split := during(10 * time.Second)
		require.InDelta(t, 333, split[0], 33, "each of three has a third")
		require.Zero(t, split[3]+split[4], "a minority has nothing")
		net.Pause(1)
		during(10 * time.Second)
		net.Resume(1)
		net.Heal()
		during(10 * time.Second)
	})
}

// A node that is asked only now and then does not get permits for the time in which it was cut
// off, when others had its share.
func TestATimeApartCountsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, size = 1.0, 5
		net, all := group(t, size, rate)
		b := all[0].node.Bounds()
		permits, begun := 0, time.Now()
		ask := func(some ...*limiter) {
			for _, l := range some {
				if l.allow() {
					permits++
				}
			}
		}
		for range 25 {
			net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5})
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				ask(all[:3]...)
			}
			net.Heal()
			for end := time.Now().Add(b.Rejoin + b.View); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				ask(all[:3]...)
			}
			ask(all...)
		}
		require.LessOrEqual(t, float64(permits), rate*time.Since(begun).Seconds()+size)
	})
}
