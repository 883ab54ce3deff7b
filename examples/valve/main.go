// Command valve opens a valve at one node of the whole network at a time. See README.md.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
)

func main() {
	var id failaware.NodeID
	if len(os.Args) == 2 {
		fmt.Sscan(os.Args[1], &id)
	}
	all := []failaware.Peer{{ID: 1, Addr: "127.0.0.1:7151"}, {ID: 2, Addr: "127.0.0.1:7152"}, {ID: 3, Addr: "127.0.0.1:7153"}}
	if id < 1 || int(id) > len(all) {
		log.Fatal("valve: the argument is the id of this node: 1, 2 or 3")
	}
	majority, err := quorum.Parse("majority:1,2,3")
	if err != nil {
		log.Fatal(err)
	}
	n, err := failaware.Start(context.Background(), failaware.Config{ID: id, Group: "valve", Listen: all[id-1].Addr, Peers: all, Quorum: majority})
	if err != nil {
		log.Fatal(err)
	}
	v := valve{leads: n.LeadsGlobally, wanted: true}
	for was := false; ; time.Sleep(10 * time.Millisecond) { // a pulse
		if open := v.open(); open != was {
			was = open
			fmt.Println("open:", open)
		}
	}
}
