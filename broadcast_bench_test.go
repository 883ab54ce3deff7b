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
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := &flow{nodes: nodes, view: nodes[0].View().View.ID, got: make([]atomic.Int64, count),
		moved: make(chan struct{}, 1), payload: make([]byte, size)}
	f.target.Store(1 << 60)
	for i := range nodes {
		go f.receive(ctx, i)
	}
	f.run(b, ctx, 200<<20/(size+512)/8) // rings and buffers have grown
	b.ReportAllocs()
	b.SetBytes(int64(size))
	b.ResetTimer()
	f.run(b, ctx, b.N)
	b.StopTimer()
	for _, n := range nodes {
		for _, c := range n.Status().Counters {
			if c.Value > 0 && c.Name == "received_overflow" {
				b.Logf("node %v: %s = %d", n.ID(), c.Name, c.Value)
			}
		}
	}
}

// flow is the messages of the first node on their way to all nodes.
type flow struct {
	nodes   []*Node
	view    ViewID // in which the benchmark began
	payload []byte
	sent    int64

	got     []atomic.Int64 // messages of each node
	target  atomic.Int64   // that wakes run
	changed atomic.Bool    // a node is in a later view
	moved   chan struct{}
}

// receive takes the deliveries of a node.
func (f *flow) receive(ctx context.Context, i int) {
	into := make([]Delivery, 512)
	for {
		k, err := f.nodes[i].Receive(ctx, into)
		if err != nil {
			return
		}
		fresh := int64(0)
		for j := range k {
			switch into[j].Change.(type) {
			case nil:
				fresh++
			case ViewChange:
				if into[j].View.ID.Sequence > f.view.Sequence {
					f.changed.Store(true)
				}
			}
		}
		if f.got[i].Add(fresh) >= f.target.Load() {
			select {
			case f.moved <- struct{}{}:
			default:
			}
		}
	}
}

// run sends n messages, and waits until all nodes have all.
func (f *flow) run(b *testing.B, ctx context.Context, n int) {
	f.target.Store(f.sent + int64(n))
	for range n {
		if _, err := f.nodes[0].Broadcast(ctx, f.payload, BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity}); err != nil {
			b.Fatal(err)
		}
	}
	f.sent += int64(n)
	for !f.complete() {
		if f.changed.Load() {
			// A node that was out of the view has missed messages, which would be
			// waited for without end.
			b.Fatal("the view changed: the machine is too busy")
		}
		select {
		case <-f.moved:
		case <-time.After(time.Second):
			if !inOneView(f.nodes...) || f.nodes[0].View().View.ID != f.view {
				b.Skip("the machine is too busy: the nodes were parted, and not all deliver all")
			}
		}
	}
}

// complete reports whether all nodes have all messages.
func (f *flow) complete() bool {
	for i := range f.got {
		if f.got[i].Load() < f.sent {
			return false
		}
	}
	return true
}
