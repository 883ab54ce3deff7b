package memory

import (
	"fmt"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// Partition splits the network into groups, whose nodes reach only each other. The nodes
// that are not named are a group too. It replaces an earlier partition. Packets in flight
// arrive.
func (n *Network) Partition(groups ...[]failaware.NodeID) {
	var part [timed.MaxNodes + 1]int
	for i, ids := range groups {
		for _, id := range ids {
			checkNode("Partition", id)
			if part[id] != 0 {
				panic(fmt.Sprintf("memory: Partition: node %v is named twice", id))
			}
			part[id] = i + 1
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.group = part
}

// Heal undoes [Network.Partition] and every [Network.Cut]. It keeps losses, delays and
// duplicates.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.group[:])
	for _, l := range n.links {
		l.cut = false
	}
}

// Cut cuts the link from one node to another, in this direction only, until
// [Network.Mend] or [Network.Heal].
func (n *Network) Cut(from, to failaware.NodeID) { n.cut("Cut", from, to, true) }

// Mend undoes [Network.Cut].
func (n *Network) Mend(from, to failaware.NodeID) { n.cut("Mend", from, to, false) }

func (n *Network) cut(where string, from, to failaware.NodeID, cut bool) {
	checkNode(where, from)
	checkNode(where, to)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.link(pair{from, to}).cut = cut
}

// Pause stops the loop of a node at the end of its current turn, like a scheduler that gives
// it no processor. The node neither sends nor handles anything, and packets wait in its
// buffer. The program that uses the node continues, and its answers still depend on the
// clock. The node can be closed. A node that starts while its id is paused stops as well.
func (n *Network) Pause(id failaware.NodeID) {
	checkNode("Pause", id)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paused.Add(id)
}

// Resume undoes [Network.Pause].
func (n *Network) Resume(id failaware.NodeID) {
	checkNode("Resume", id)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paused.Remove(id)
	for _, c := range n.ends {
		if c.id == id {
			c.notify()
		}
	}
}
