package failaware

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkBroadcast measures a message from the call of Broadcast to its delivery at all nodes of this process, over loopback.
func BenchmarkBroadcast(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		for _, size := range []int{64, 1024, 16384} {
			for _, packet := range []int{1200, 60000} {
				b.Run(fmt.Sprintf("nodes%d/%dB/packet%d", nodes, size, packet), func(b *testing.B) {
					benchBroadcast(b, nodes, size, packet)
				})
			}
		}
	}
}

func benchBroadcast(b *testing.B, count, size, packet int) {
	var nodes []*Node
	var peers []Peer
	for i := range count {
		n := startNode(b, Config{ID: NodeID(i + 1), Peers: peers, Broadcast: &BroadcastConfig{}, Timing: LAN(), MaxPacket: packet})
		nodes = append(nodes, n)
		peers = append(peers[:len(peers):len(peers)], Peer{n.ID(), n.Addr().String()})
	}
	eventually(b, "one view", func() bool { return inOneView(nodes...) })
	first := nodes[0].View().View.ID
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got := make([]atomic.Int64, count)
	moved := make(chan struct{}, 1)
	view, changed := nodes[0].View().View.ID.Sequence, atomic.Bool{}
	target := atomic.Int64{}
	target.Store(1 << 60)
	for i, n := range nodes {
		go func() {
			into := make([]Delivery, 512)
			for {
				k, err := n.Receive(ctx, into)
				if err != nil {
					return
				}
				fresh := int64(0)
				for j := range k {
					switch into[j].Change.(type) {
					case nil:
						fresh++
					case ViewChange:
						if into[j].View.ID.Sequence > view {
							changed.Store(true)
						}
					}
				}
				if got[i].Add(fresh) >= target.Load() {
					select {
					case moved <- struct{}{}:
					default:
					}
				}
			}
		}()
	}
	payload := make([]byte, size)
	sent := int64(0)
	run := func(n int) {
		target.Store(sent + int64(n))
		for range n {
			if _, err := nodes[0].Broadcast(ctx, payload, BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity}); err != nil {
				b.Fatal(err)
			}
		}
		sent += int64(n)
		for {
			done := true
			for i := range got {
				done = done && got[i].Load() >= sent
			}
			if done {
				return
			}
			if changed.Load() {
				// A node that was out of the view has missed messages, which would be
				// waited for without end.
				b.Fatal("the view changed: the machine is too busy")
			}
			select {
			case <-moved:
			case <-time.After(time.Second):
				if !inOneView(nodes...) || nodes[0].View().View.ID != first {
					b.Skip("the machine is too busy: the nodes were parted, and not all deliver all")
				}
			}
		}
	}
	run(200 << 20 / (size + 512) / 8) // rings and buffers have grown
	b.ReportAllocs()
	b.SetBytes(int64(size))
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
	for _, n := range nodes {
		for _, c := range n.Status().Counters {
			if c.Value > 0 && c.Name == "received_overflow" {
				b.Logf("node %v: %s = %d", n.ID(), c.Name, c.Value)
			}
		}
	}
}
