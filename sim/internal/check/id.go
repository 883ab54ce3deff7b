package check

import (
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/sim/situation"
)

// duplicate checks that the id of a node that stops because its id is used twice really is.
// The node stays down until the world heals.
func (c *Checker) duplicate(n *Process) {
	if !c.UsedTwice(n.ID) {
		c.Fail("id", n, "thinks that its id is used twice")
		return
	}
	c.Sometimes(situation.RivalStopped)
	c.Quit = n
}

// rival checks that another process than the one that a node hears has a peer's id, and runs.
func (c *Checker) rival(n *Process, e *stack.Event) {
	if e.Boot == n.Stack.Datagram().Boot(e.Peer) || c.sound() && !c.UsedTwice(e.Peer) {
		c.Fail("id", n, "thinks that the id of node %d is used twice", e.Peer)
	}
	c.Sometimes(situation.RivalSeen)
}

// twins checks that an incarnation that a node takes for two processes was cloned.
func (c *Checker) twins(n *Process, e *stack.Event) {
	if !c.Cloned {
		c.Fail("id", n, "takes node %d for two processes", e.Peer)
		return
	}
	c.Sometimes(situation.TwinsFound)
	c.Clones[n.Index] = true
}

// sound reports whether all clocks keep ρ, no damaged packet counts, and no incarnation is
// two processes.
func (c *Checker) sound() bool { return !c.Broken && !c.Damaged && !c.Cloned && c.Faults == nil }

// inconsistent handles an invariant that a node finds broken: a violation in a sound world.
func (c *Checker) inconsistent(n *Process, invariant string) {
	if c.sound() {
		c.Fail("invariant", n, "finds its state broken: %s", invariant)
	}
}

// Blames checks that a node wants a new incarnation because its peers contradict its
// clock, or its state is broken: a violation in a sound world. It reports whether the
// node gets one.
func (c *Checker) Blames(n *Process) bool {
	if c.sound() {
		c.Fail("clock", n, "blamed its own clock although all clocks keep ρ")
		return false
	}
	c.Sometimes(situation.BlamedItself)
	c.Live.noteBlame(n)
	return true
}
