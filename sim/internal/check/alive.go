package check

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// hearing is when a process last heard a peer, in true time.
type hearing struct {
	direct int64 // when a fast packet came
	told   int64 // when the peer surely ran, by what others said
	order        // of its packets
}

// checkVouched checks the claim of a leader that all members of the view that it renews have
// answered a request: each has heard that request. The claim counts even if the leader has
// restarted meanwhile.
func (c *Checker) checkVouched(n *Process, f Arrival, now timed.Instant) {
	part, view := &f.Packet.Part, n.Stack.Membership().View()
	if part.Kind != membership.Renew || part.Answered == 0 || view == nil || view.ID != part.ID {
		return
	}
	age, rho := f.Packet.Header.Stamp.Sub(part.Answered), c.Timing.MaxDrift
	first, last := f.Sent-int64(rho.Upper(age)), f.Sent-int64(rho.Lower(age))
	p, alive := f.From, n.Stack.Datagram().Alive(now)
	for i := range view.Members {
		m := view.Members[i].Incarnation
		q := c.running(m)
		if q == nil || q == n || q == p {
			continue
		}
		if p.Up && p.Boot == f.Packet.Header.Boot && c.heard[c.pair(q, p)].direct < first-c.grain {
			c.Fail("vouched", p, "says that node %d has answered a request, which has heard none for %v",
				m.Node, time.Duration(c.Now-c.heard[c.pair(q, p)].direct))
			return
		}
		h := &c.heard[c.pair(n, q)]
		if h.told = max(h.told, last); alive.Has(m.Node) && n.Stack.Datagram().Boot(m.Node) == m.Boot {
			if h.told-h.direct > n.spell {
				c.Sometimes(situation.AliveByWord)
			}
			c.checkAlive(n, q)
		}
	}
}

// checkRelayed checks the voters whose replies a packet relays. They ran and heard the
// requester after it sent the request; no later time is certain.
func (c *Checker) checkRelayed(n *Process, said *wire.Collated, now timed.Instant) {
	if said.Leader.Node != n.ID {
		return
	}
	if said.Number == n.Stack.Election().LastRequest() {
		c.Sometimes(situation.RepliesCollated)
	} else {
		c.Sometimes(situation.CollatedLate)
	}
	alive := n.Stack.Datagram().Alive(now)
	for i := range said.Replies {
		v := said.Replies[i].Voter
		p := c.running(v)
		if p == nil || n.Stack.Datagram().Boot(v.Node) != v.Boot {
			continue
		}
		if at := c.pair(n, p); said.Replies[i].Reply.Support {
			c.heard[at].told = max(c.heard[at].told, n.Clock.When(said.Number))
		}
		if alive.Has(v.Node) {
			c.checkAlive(n, p)
		}
	}
}

// running returns the process that runs as an incarnation, or nil. The process may be a rival
// of the first one with its id.
func (c *Checker) running(i timed.Incarnation) *Process {
	if p := c.processes[i.Node-1]; p.Up && p.Boot == i.Boot {
		return p
	}
	at := slices.IndexFunc(c.processes, func(p *Process) bool { return p.Up && p.ID == i.Node && p.Boot == i.Boot })
	if at < 0 {
		return nil
	}
	return c.processes[at]
}

// checkAlive demands that a peer that n counts as alive hears n too, and may vote. If others
// have told n that the peer runs, the peer may have heard n longer ago: its last direct
// packet said that it had heard n within n's Expires, or that others had told it so. A link
// that works in one direction only never makes a peer alive.
func (c *Checker) checkAlive(n, p *Process) {
	h, own := c.heard[c.pair(p, n)], c.heard[c.pair(n, p)]
	age := c.Now - max(h.direct, h.told)
	byWord := c.Now-own.told <= n.spell && c.Now-own.direct <= n.wordOf(p)+n.spell && own.direct-h.direct <= p.wordOf(n)+n.spell
	if age > n.spell && !byWord {
		c.Fail("alive", n, "counts node %d as alive, which has not heard it for %v", p.ID, time.Duration(age))
		return
	}
	if !p.Stack.Election().Ready(p.Clock.Show(c.Now)) {
		c.Fail("ready", n, "counts node %d as alive, which is not ready", p.ID)
	}
}
