// Command ratelimit limits what a whole group does in a second, without a message for
// each permit. See README.md.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/failaware/failaware"
)

// limiter is one node's part of a limit for the whole group.
type limiter struct {
	node  *failaware.Node
	group int              // nodes of the whole group
	rate  float64          // permits in a second, of all nodes together
	view  failaware.ViewID // in which the time since last was spent; none if not in a fresh view of a majority
	last  time.Time
	saved float64 // permits not used yet, at most one
}

// allow takes a permit if there is one.
//
// A fresh view of more than half of the group shares the rate among its members. Such
// views do not overlap, and two of them would have a member in common, so at any time
// the shares of all nodes are at most the rate. A node whose view is stale, or of a
// minority, has no share.
//
// No member comes back to a view that it has left: if a view is fresh at two calls, no other
// one shared the rate in between. So the time between them counts at its share. The time
// from one view to another counts nothing.
//
// A node saves at most one permit. So n nodes have at most rate*T+n permits in any time T.
func (l *limiter) allow() bool {
	now := time.Now() // before the node says that the view is fresh
	v := l.node.View()
	if !v.UpToDate || v.View.Set.Len() <= l.group/2 {
		l.view, l.saved = failaware.ViewID{}, 0
		return false
	}
	if v.View.ID != l.view {
		l.view, l.last = v.View.ID, time.Now() // it was fresh before
		now = l.last
	}
	share := l.rate / float64(v.View.Set.Len())
	l.saved = min(1, l.saved+now.Sub(l.last).Seconds()*share)
	l.last = now
	if l.saved < 1 {
		return false
	}
	l.saved--
	return true
}

func main() {
	var id failaware.NodeID
	if len(os.Args) == 2 {
		fmt.Sscan(os.Args[1], &id)
	}
	all := []failaware.Peer{{ID: 1, Addr: "127.0.0.1:7141"}, {ID: 2, Addr: "127.0.0.1:7142"}, {ID: 3, Addr: "127.0.0.1:7143"}}
	if id < 1 || int(id) > len(all) {
		log.Fatal("ratelimit: the argument is the id of this node: 1, 2 or 3")
	}
	n, err := failaware.Start(context.Background(), failaware.Config{ID: id, Group: "ratelimit", Listen: all[id-1].Addr, Peers: all})
	if err != nil {
		log.Fatal(err)
	}
	l := limiter{node: n, group: len(all), rate: 30}
	for begin, allowed := time.Now(), 0; ; time.Sleep(time.Millisecond) {
		if l.allow() {
			allowed++
		}
		if time.Since(begin) >= time.Second {
			fmt.Printf("%d of the 30 permits a second; %v\n", allowed, n.View())
			begin, allowed = time.Now(), 0
		}
	}
}
