// Command singleton runs a task on one node of each logical partition: on its
// leader. Start it three times:
//
//	go run ./examples/singleton 1 & go run ./examples/singleton 2 & go run ./examples/singleton 3
//
// and stop, continue or kill the one that works. The task ends before another
// node can begin with it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/failaware/failaware"
)

func main() {
	if err := run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "singleton:", err)
		os.Exit(1)
	}
}

func run() error {
	var id failaware.NodeID
	if len(os.Args) == 2 {
		fmt.Sscan(os.Args[1], &id)
	}
	if id < 1 || id > 3 {
		return errors.New("the argument is the id of this node: 1, 2 or 3")
	}
	var all []failaware.Peer // a node may stand in its own list
	for p := failaware.NodeID(1); p <= 3; p++ {
		all = append(all, failaware.Peer{ID: p, Addr: address(p)})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	n, err := failaware.Start(ctx, failaware.Config{ID: id, Listen: address(id), Peers: all, Timing: failaware.LAN()})
	if err != nil {
		return err
	}
	for {
		// The context of a lead ends before its lease can.
		lead, release, err := n.Lead(ctx)
		if err != nil {
			return err
		}
		work(lead, n)
		release()
	}
}

func address(id failaware.NodeID) string { return fmt.Sprintf("127.0.0.1:%d", 7100+int(id)) }

// work is the task that only one node of a partition may do at a time.
func work(lead context.Context, n *failaware.Node) {
	fmt.Printf("node %v begins, for %v\n", n.ID(), n.Leader().Support)
	for lead.Err() == nil { // reads the hardware clock, even after a stop
		now := n.Clock()
		fmt.Printf("node %v works at %s ± %v\n", n.ID(), now.Time.Go().Format(time.TimeOnly), now.Deviation)
		select {
		case <-lead.Done():
		case <-time.After(time.Second):
		}
	}
	fmt.Printf("node %v ends: %v\n", n.ID(), context.Cause(lead))
}
