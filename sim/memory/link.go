package memory

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// Link is one direction between two nodes. A setting holds until it is changed for this link
// or for all. All methods are safe for concurrent use.
type Link struct {
	n *Network
	p pair
}

// Link returns the link from one node to another.
func (n *Network) Link(from, to failaware.NodeID) Link {
	checkNode("Link", from)
	checkNode("Link", to)
	return Link{n, pair{from, to}}
}

// Delay sets the delays of packets: evenly distributed between low and high, so that
// packets overtake each other. It is never less than the Timing.MinDelay of any node.
func (n *Network) Delay(low, high time.Duration) {
	n.onAll(func(c *conditions) { c.delay("Delay", low, high) })
}

// Loss sets the probability with which a packet is lost.
func (n *Network) Loss(p float64) { n.onAll(func(c *conditions) { c.loss = probability("Loss", p) }) }

// Late sets the probability with which a packet is late: by up to tail, evenly
// distributed, on top of its delay.
func (n *Network) Late(p float64, tail time.Duration) {
	n.onAll(func(c *conditions) { c.delayTail(p, tail) })
}

// Duplicate sets the probability with which a packet comes twice, the second one
// with a delay of its own.
func (n *Network) Duplicate(p float64) {
	n.onAll(func(c *conditions) { c.twice = probability("Duplicate", p) })
}

// Delay is [Network.Delay] for this link.
func (l Link) Delay(low, high time.Duration) {
	l.on(func(c *conditions) { c.delay("Delay", low, high) })
}

// Loss is [Network.Loss] for this link.
func (l Link) Loss(p float64) { l.on(func(c *conditions) { c.loss = probability("Loss", p) }) }

// Late is [Network.Late] for this link.
func (l Link) Late(p float64, tail time.Duration) {
	l.on(func(c *conditions) { c.delayTail(p, tail) })
}

// Duplicate is [Network.Duplicate] for this link.
func (l Link) Duplicate(p float64) {
	l.on(func(c *conditions) { c.twice = probability("Duplicate", p) })
}

// onAll changes the conditions of all links.
func (n *Network) onAll(change func(*conditions)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.usual)
	for _, l := range n.links {
		change(&l.conditions)
	}
}

func (l Link) on(change func(*conditions)) {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	change(&l.n.link(l.p).conditions)
}

// conditions are the settings of a link.
type conditions struct {
	low, high         time.Duration
	loss, late, twice float64 // probabilities
	tail              time.Duration
}

func (c *conditions) delay(where string, low, high time.Duration) {
	if low < 0 || high < low || high > MaxDelay {
		panic(fmt.Sprintf("memory: %s: delays from %v to %v are not within [0, %v]", where, low, high, MaxDelay))
	}
	c.low, c.high = low, high
}

func (c *conditions) delayTail(p float64, tail time.Duration) {
	if tail < 0 || tail > MaxDelay {
		panic(fmt.Sprintf("memory: Late: the tail %v is outside [0, %v]", tail, MaxDelay))
	}
	c.late, c.tail = probability("Late", p), tail
}

func probability(where string, p float64) float64 {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("memory: %s: the probability %v is outside [0, 1]", where, p))
	}
	return p
}

func checkNode(where string, id failaware.NodeID) {
	if !id.Valid() {
		panic(fmt.Sprintf("memory: %s: the id %d is outside [1, %d]", where, id, timed.MaxNodes))
	}
}

// link is the state of one direction.
type link struct {
	conditions
	cut    bool
	random *rand.Rand
}

// link returns a link, with the default conditions unless it has its own. The caller holds
// n.mu.
func (n *Network) link(p pair) *link {
	l := n.links[p]
	if l == nil {
		l = &link{conditions: n.usual, random: n.source(forLink, p)}
		n.links[p] = l
	}
	return l
}

// fate is the fate of one packet.
type fate struct {
	lost, late, twice bool
	delay, again      time.Duration // of the packet, and of its duplicate
}

// draw draws the fate of the next packet. It always draws the same number of values, so that
// the fate of a packet does not depend on the conditions of earlier ones.
func (l *link) draw() fate {
	var u [6]float64
	for i := range u {
		u[i] = l.random.Float64()
	}
	f := fate{lost: u[0] < l.loss, late: u[1] < l.late, twice: u[2] < l.twice,
		delay: between(u[3], l.low, l.high), again: between(u[4], l.low, l.high)}
	if f.late {
		f.delay += between(u[5], 0, l.tail)
	}
	return f
}

func between(u float64, low, high time.Duration) time.Duration {
	return low + time.Duration(u*float64(high-low))
}
