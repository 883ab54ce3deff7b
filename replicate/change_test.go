package replicate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// changing is the kind of a group of processes that replaces its quorum system all the time.
// The first three nodes begin, and the others join.
const changing = "change"

// join configures a node of such a group.
func join(c *failaware.Config) (err error) {
	if c.JoinQuorum = c.ID > 3; !c.JoinQuorum {
		c.Quorum, err = quorum.Majority(timed.SetOf(1, 2, 3))
	}
	return err
}

// change replaces the quorum system by the majority of three other nodes whenever the node
// leads, and prints what it has changed.
func change(r *replicate.Replica, nodes int) {
	for {
		var three timed.Set
		for _, i := range rand.Perm(nodes)[:3] {
			three.Add(failaware.NodeID(i + 1))
		}
		next, err := quorum.Majority(three)
		if err != nil {
			fmt.Println("failed", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		if err := r.Node().ChangeQuorum(ctx, next); err == nil {
			fmt.Println("changed", next)
		}
		cancel()
		time.Sleep(10 * time.Millisecond)
	}
}
