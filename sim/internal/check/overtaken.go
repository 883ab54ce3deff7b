package check

import (
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// order has the stamps of the latest packets that a process has heard from a peer.
type order struct {
	newest    timed.Instant
	requested timed.Instant // number of the latest request
	resigned  timed.Instant // stamp of the latest packet with a resignation
}

// mostLeads is how often an incarnation leads before that is a situation of its own.
const mostLeads = 8

// countOvertaken counts packets of a peer that later ones have overtaken, or that have the
// stamp of an earlier one.
func (c *Checker) countOvertaken(n *Process, o *order, p *wire.Packet) {
	stamp := p.Header.Stamp
	if p.Has(wire.FrameResign) {
		if v := c.views[p.Resign]; v != nil && v.Has(n.Incarnation()) && c.seen[n.Index].Sequence < p.Resign.Sequence {
			c.Sometimes(situation.ResignedUnseen)
		}
		if stamp == o.requested {
			c.Sometimes(situation.ResignedAtOnce)
		}
		o.resigned = timed.Later(o.resigned, stamp)
	}
	if p.Has(wire.FrameRequest) {
		if stamp < o.resigned {
			c.Sometimes(situation.RequestOvertaken)
			if p.Part.Kind == membership.Commit {
				c.Sometimes(situation.CommitOvertaken)
			}
		}
		if p.Request.Number > stamp {
			c.Sometimes(situation.RequestAhead)
		}
		o.requested = timed.Later(o.requested, p.Request.Number)
	}
	if p.Has(wire.FrameStamp) && p.Stamp.At > stamp {
		c.Sometimes(situation.VoteAhead)
	}
	if stamp == o.newest {
		c.Sometimes(situation.EqualStamps)
	}
	o.newest = timed.Later(o.newest, stamp)
}

// CheckLeft demands that no node counts on a view of a process that has left, which says that
// no node is bound to it.
func (c *Checker) CheckLeft(n *Process) {
	c.Sometimes(situation.LeaderLeft)
	for i, q := range c.processes {
		if cl := &c.Claims[i]; i != n.Index && c.Fresh(i) && cl.leader == n.Incarnation() {
			c.Fail("left", n, "has left, but node %d counts on its view %v for %v", q.ID, cl.View.ID, time.Duration(cl.ViewUntil-c.Now))
		}
	}
}
