// Command sensors writes one log of the readings of several sensors, in the order of
// the times at which they were taken, the same at all nodes. See README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
)

func main() {
	var id failaware.NodeID
	if len(os.Args) == 2 {
		fmt.Sscan(os.Args[1], &id)
	}
	all := []failaware.Peer{{ID: 1, Addr: "127.0.0.1:7131"}, {ID: 2, Addr: "127.0.0.1:7132"}, {ID: 3, Addr: "127.0.0.1:7133"}}
	if id < 1 || int(id) > len(all) {
		log.Fatal("sensors: the argument is the id of this node: 1, 2 or 3")
	}
	ctx := context.Background()
	n, err := failaware.Start(ctx, failaware.Config{ID: id, Group: "sensors", Listen: all[id-1].Addr, Peers: all,
		Broadcast: &failaware.BroadcastConfig{}})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			time.Sleep(rand.N(2 * time.Second))
			if err := report(ctx, n, fmt.Sprintf("%.1f °C", 20+rand.Float64())); err != nil {
				log.Print("sensors: not sent: ", err)
			}
		}
	}()
	log.Fatal(follow(ctx, n, os.Stdout))
}

// report sends a reading to all. Its stamp is the group time of the call.
func report(ctx context.Context, n *failaware.Node, reading string) error {
	_, err := n.Broadcast(ctx, []byte(reading), failaware.BroadcastOptions{Order: failaware.TimedOrder})
	return err
}

// follow writes the log.
func follow(ctx context.Context, n *failaware.Node, out io.Writer) error {
	for d, err := range n.Deliveries(ctx) {
		if err != nil {
			return err
		}
		switch c := d.Change.(type) {
		case nil:
			within := "unknown"
			if d.Deviation != clocksync.UnknownBound {
				within = d.Deviation.String()
			}
			fmt.Fprintf(out, "%s ± %s  sensor %v  %s\n", d.Stamp.Go().Format("15:04:05.000000"), within, d.ID.Sender, d.Payload)
		case failaware.ViewChange:
			fmt.Fprintf(out, "-- sensors %v\n", d.View.Set)
		case failaware.OutcomeLost, failaware.NewIncarnation:
			fmt.Fprintf(out, "-- readings of this sensor may be missing: %v\n", c)
		}
	}
	return ctx.Err()
}
