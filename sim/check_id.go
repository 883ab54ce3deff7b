package sim

import "github.com/failaware/failaware/internal/stack"

// duplicate takes that a node stops because its id is used twice. That must be
// so, and the one that stops is gone until the world heals.
func (c *checker) duplicate(n *Node) {
	if !c.usedTwice(n.id) {
		c.fail("id", n, "thinks that its id is used twice")
		return
	}
	c.sometimes(RivalStopped)
	c.quit = n
}

// twins takes that a node found a peer's incarnation to be two processes.
func (c *checker) twins(n *Node, e *stack.Event) {
	if !c.cloned {
		c.fail("id", n, "takes node %d for two processes", e.Peer)
		return
	}
	c.sometimes(TwinsFound)
	c.clones[n.index] = true
}

// blames takes that a node wants a new incarnation because its peers contradict
// its clock: a violation while all clocks keep ρ.
func (c *checker) blames(n *Node) {
	if !c.broken && c.faults == nil {
		c.fail("clock", n, "blamed its own clock although all clocks keep ρ")
		return
	}
	c.sometimes(BlamedItself)
	n.upset = true
	c.w.schedule(c.w.now, wake, n.index, n.wakeTicket+1)
	n.wakeTicket++
	n.wakeAt = c.w.now
}
