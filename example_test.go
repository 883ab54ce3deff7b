package failaware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
)

// group starts nodes 1 to count on a network in memory, where they find each other by
// their ids, with settings that are the same for all. WAN timing bears a busy machine.
func group(count int, cfg failaware.Config) (nodes []*failaware.Node, stop func()) {
	net := memory.New(memory.Options{})
	for id := 1; id <= count; id++ {
		cfg.ID, cfg.Transport, cfg.Timing = failaware.NodeID(id), net.Transport(), failaware.WAN()
		n, err := failaware.Start(context.Background(), cfg)
		if err != nil {
			panic(err)
		}
		nodes = append(nodes, n)
	}
	return nodes, func() {
		for _, n := range nodes {
			n.Close()
		}
	}
}

// A node on a UDP socket of this machine. Peers would be listed in its configuration.
func ExampleStart() {
	ctx := context.Background()
	n, err := failaware.Start(ctx, failaware.Config{ID: 1, Name: "alpha"})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := n.WaitLeader(ctx)
	fmt.Println(a.Leader, a.Leads, err)
	n.Close()
	fmt.Println("leads after its end:", n.Leads())
	// Output:
	// 1 true <nil>
	// leads after its end: false
}

// Work that only the leader may do runs under a context that ends before the lease can.
func ExampleNode_Lead() {
	nodes, stop := group(2, failaware.Config{})
	defer stop()
	leader, err := nodes[0].WaitLeader(context.Background())
	if err != nil {
		panic(err)
	}
	n := nodes[leader.Leader-1]

	lead, cancel, err := n.Lead(context.Background())
	if err != nil {
		panic(err)
	}
	defer cancel()
	fmt.Println("may act:", lead.Err() == nil)
	if err := n.Resign(context.Background()); err != nil {
		panic(err)
	}
	fmt.Println("may act:", lead.Err() == nil)
	fmt.Println(errors.Is(context.Cause(lead), failaware.ErrNotLeader))
	// Output:
	// may act: true
	// may act: false
	// true
}

// The global leader is the only one of the whole group, with the votes of a quorum.
func ExampleNode_GlobalLeaderContext() {
	majority, err := quorum.Parse("majority:1,2,3")
	if err != nil {
		panic(err)
	}
	nodes, stop := group(3, failaware.Config{Quorum: majority})
	defer stop()
	a, err := nodes[0].WaitGlobalLeader(context.Background())
	if err != nil {
		panic(err)
	}
	for _, n := range nodes {
		lead, cancel, err := n.GlobalLeaderContext(context.Background())
		if n.ID() == a.Leader {
			fmt.Println("the leader may act:", lead.Err() == nil)
		} else {
			fmt.Println("another node may not:", errors.Is(err, failaware.ErrNotLeader))
		}
		cancel()
	}
	// Unordered output:
	// the leader may act: true
	// another node may not: true
	// another node may not: true
}

// Messages and views come in one order, the same at all members.
func ExampleNode_Deliveries() {
	nodes, stop := group(2, failaware.Config{Broadcast: &failaware.BroadcastConfig{}})
	defer stop()
	ctx := context.Background()
	go func() {
		awaitView(nodes[1], 2)
		for _, text := range []string{"hello", "world"} {
			if _, err := nodes[1].Broadcast(ctx, []byte(text), failaware.BroadcastOptions{}); err != nil {
				panic(err)
			}
		}
	}()
	for d, err := range nodes[0].Deliveries(ctx) {
		if err != nil {
			panic(err)
		}
		switch d.Change.(type) {
		case nil:
			fmt.Printf("node %v says %s\n", d.ID.Sender, d.Payload)
			if string(d.Payload) == "world" {
				return
			}
		case failaware.ViewChange:
			if d.View.Set.Len() == 2 {
				fmt.Println("here are", d.View.Set)
			}
		}
	}
	// Output:
	// here are {1 2}
	// node 2 says hello
	// node 2 says world
}

// awaitView waits until a node is in a view of so many members.
func awaitView(n *failaware.Node, members int) {
	for e := range n.EventsSince(context.Background(), 0) {
		if v, ok := e.(event.ViewInstalled); ok && v.View.Set.Len() == members {
			return
		}
	}
}

// A reading of the clock is a time stamp. When CommitWait returns, it is in the past at
// every node.
func ExampleNode_CommitWait() {
	nodes, stop := group(2, failaware.Config{})
	defer stop()
	awaitView(nodes[0], 2)
	n := nodes[0]

	stamp := n.Clock()
	for stamp.Status == clocksync.Unsynchronized {
		time.Sleep(time.Millisecond)
		stamp = n.Clock()
	}
	if err := n.CommitWait(context.Background(), stamp); err != nil {
		panic(err)
	}
	order, err := clocksync.Order(stamp, n.Clock())
	fmt.Println(order == clocksync.Earlier, err)
	// Output:
	// true <nil>
}

// Events say what happened, and why; a type switch tells them apart.
func ExampleNode_Events() {
	nodes, stop := group(3, failaware.Config{})
	defer stop()
	var seen []string
	for e := range nodes[2].EventsSince(context.Background(), 0) {
		switch e := e.(type) {
		case event.Ready:
			seen = append(seen, "ready")
		case event.ViewInstalled:
			if e.View.Set.Len() == 3 {
				slices.Sort(seen)
				fmt.Println(slices.Compact(seen), "and a member of", e.View.Set)
				return
			}
		}
	}
	// Output:
	// [ready] and a member of {1 2 3}
}
