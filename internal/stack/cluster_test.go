package stack

import (
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// cluster are nodes with equal clocks, whose packets take a millisecond.
type cluster struct {
	now    timed.Instant
	stacks []*Stack
	sent   []wire.Packet // to be delivered next
	count  uint64
	events []Event
}

func newCluster(n int, rank leader.RankBy) *cluster {
	c := &cluster{now: 1e12}
	var all timed.Set
	for i := range n {
		all.Add(timed.NodeID(i + 1))
	}
	for id := range all.All() {
		c.stacks = append(c.stacks, New(Config{Self: timed.Incarnation{Node: id, Boot: 7}, Timing: timed.LAN(), RankBy: rank},
			all.Minus(timed.SetOf(id)), c.now, 0))
	}
	return c
}

// step lets a millisecond pass. A node that stops does nothing, and step returns the
// packets that come for it.
func (c *cluster) step(stops *Stack) (waiting []wire.Packet) {
	c.now = c.now.Add(time.Millisecond)
	for _, s := range c.stacks {
		s.rests(c.now)
	}
	arriving := c.sent
	c.sent = nil
	for i := range arriving {
		p := &arriving[i]
		if s := c.stacks[p.Header.Destination-1]; s != stops {
			c.take(s.HandlePacket(c.now, c.now, p, nil))
		} else {
			waiting = append(waiting, *p)
		}
	}
	for _, s := range c.stacks {
		if s != stops {
			c.take(s.HandleTimeout(c.now, nil))
		}
	}
	return waiting
}

func (c *cluster) take(out []Effect) {
	for _, e := range out {
		if e.Kind == Send {
			c.count++
			p := *e.Packet
			p.Header.Stamp, p.Header.Counter = c.now, c.count
			c.sent = append(c.sent, p)
		}
		if e.Kind == Notify {
			c.events = append(c.events, *e.Event)
		}
	}
}

// leader returns a node that leads all, or nil.
func (c *cluster) leader() *Stack {
	for _, s := range c.stacks {
		if s.Leads(c.now) && s.Election().Support().Len() == len(c.stacks) {
			return s
		}
	}
	return nil
}
