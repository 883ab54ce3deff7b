package replicate_test

import (
	"context"
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// A client votes once, although it asks two nodes: it does not know whether the first one
// has counted the vote.
func ExampleSession() {
	ctx, net := context.Background(), memory.New(memory.Options{})
	var nodes []*replicate.Replica
	for id := failaware.NodeID(1); id <= 2; id++ {
		n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: net.Transport(), Timing: failaware.WAN(),
			Quorum: bothNodes, Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}})
		if err != nil {
			panic(err)
		}
		r, err := replicate.Start(n, &tally{votes: map[string]int{}}, replicate.Config{})
		if err != nil {
			panic(err)
		}
		defer r.Close()
		nodes = append(nodes, r)
	}
	session, err := nodes[0].OpenSession(ctx)
	if err != nil {
		panic(err)
	}
	number := session.Next()
	for _, r := range nodes {
		a, err := r.Session(session.ID()).Submit(ctx, number, []byte("yes"))
		fmt.Println(a.Result, a.Repeated, err)
	}
	// Output:
	// 1 false <nil>
	// 1 true <nil>
}

var bothNodes, _ = quorum.Parse("majority:1,2")
