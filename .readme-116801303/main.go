package main

import (
	"context"
	"fmt"

	"github.com/failaware/failaware"
)

func main() {
	n, err := failaware.Start(context.Background(), failaware.Config{
		ID: 1, Listen: "127.0.0.1:7001", Timing: failaware.LAN(),
		Peers: []failaware.Peer{{ID: 2, Addr: "127.0.0.1:7002"}, {ID: 3, Addr: "127.0.0.1:7003"}},
	})
	if err != nil {
		panic(err)
	}
	for e := range n.Events(context.Background()) {
		fmt.Println(e, "- leads:", n.Leads(), "- view up to date:", n.View().UpToDate)
	}
}
