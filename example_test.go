package failaware_test

import (
	"context"
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
)

func Example() {
	ctx := context.Background()
	a, err := failaware.Start(ctx, failaware.Config{ID: 1, Timing: failaware.LAN()})
	if err != nil {
		panic(err)
	}
	b, err := failaware.Start(ctx, failaware.Config{ID: 2, Timing: failaware.LAN(),
		Peers: []failaware.Peer{{ID: 1, Addr: a.Addr().String()}}})
	if err != nil {
		panic(err)
	}
	for e := range b.EventsSince(ctx, 0) {
		if v, ok := e.(event.ViewInstalled); ok && len(v.View.Members) == 2 {
			fmt.Println("members", v.View.Set)
			break
		}
	}
	_, _ = a.Close(), b.Close()
	fmt.Println("leads after its end:", a.Leads() || b.Leads())
	// Output:
	// members {1 2}
	// leads after its end: false
}
