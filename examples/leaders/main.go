// Command leaders shows who leads, and which view the nodes have agreed on. See
// README.md.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/failaware/failaware"
)

func main() {
	var id failaware.NodeID
	if len(os.Args) == 2 {
		fmt.Sscan(os.Args[1], &id)
	}
	all := []failaware.Peer{{ID: 1, Addr: "127.0.0.1:7121"}, {ID: 2, Addr: "127.0.0.1:7122"}, {ID: 3, Addr: "127.0.0.1:7123"}}
	if id < 1 || int(id) > len(all) {
		log.Fatal("leaders: the argument is the id of this node: 1, 2 or 3")
	}
	// A node may stand in its own list, so all of them can have the same one.
	n, err := failaware.Start(context.Background(), failaware.Config{ID: id, Group: "leaders", Listen: all[id-1].Addr, Peers: all})
	if err != nil {
		log.Fatal(err)
	}
	for range time.Tick(time.Second) {
		fmt.Println(line(n))
	}
}

// line describes the leader and the view that the node knows now. It sends nothing.
func line(n *failaware.Node) string {
	return fmt.Sprintf("%v | %v", n.Leader(), n.View())
}
