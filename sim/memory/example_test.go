package memory_test

import (
	"context"
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/sim/memory"
)

// Outside of a bubble a network in memory runs in real time. For tests in virtual
// time, with faults, see example_splitbrain_test.go.
func Example() {
	ctx := context.Background()
	net := memory.New(memory.Options{})
	var nodes []*failaware.Node
	for id := failaware.NodeID(1); id <= 3; id++ {
		n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: net.Transport()})
		if err != nil {
			panic(err)
		}
		defer n.Close()
		nodes = append(nodes, n)
	}
	for e := range nodes[0].EventsSince(ctx, 0) {
		if v, ok := e.(event.ViewInstalled); ok && len(v.View.Members) == 3 {
			fmt.Println("members", v.View.Set)
			break
		}
	}
	// Output:
	// members {1 2 3}
}
