package sim

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// answerKey names an answer to the question whether somebody leads.
type answerKey struct {
	by    timed.Incarnation
	asker timed.BootID
	asked timed.Instant
}

// answerGiven is how things stood when an answer was given.
type answerGiven struct {
	clock   *hardware.Clock
	local   timed.Instant // end of the lease
	global  timed.Instant // of the global one
	support timed.Set
}

// reliance is an assurance that somebody may rely on.
type reliance struct {
	asker         *Node
	clock         *hardware.Clock // the asker's; a reboot gives the machine another one
	by            timed.Incarnation
	local, global timed.Instant
	support       timed.Set
}

// answered notes an answer that a node gives.
func (c *checker) answered(n *Node, p *wire.Packet) {
	if p.Answer.Local == 0 {
		return
	}
	el := n.st.Election()
	a := &answerGiven{clock: n.clock, support: el.Support()}
	a.local, _ = el.Leading()
	a.global, _ = el.LeadingGlobally()
	c.w.global.answers[answerKey{timed.Incarnation{Node: n.id, Boot: n.boot}, p.Answer.Asker, p.Answer.Asked}] = a
}

// verified takes an assurance that a node relies on from now on. It must end
// before the lease that it is about.
func (c *checker) verified(n *Node, e *stack.Event) {
	g, a := c.w.global, e.Assurance
	given := g.answers[answerKey{a.By, n.boot, a.Asked}]
	if a.Local == 0 || given == nil {
		if a.Local > 0 || a.Global > 0 {
			c.fail("Verify", n, "is assured by %v of what it never said", a.By)
		}
		return
	}
	for _, p := range []struct{ until, lease timed.Instant }{{a.Local, given.local}, {a.Global, given.global}} {
		if n.clock.Show(c.w.now) >= p.until {
			continue // over already, and when that was does not matter
		}
		if given.clock.Show(c.w.now) >= p.lease || n.clock.When(p.until) > given.clock.When(p.lease) {
			c.fail("Verify", n, "is assured for %v longer than the lease of %v lasts",
				time.Duration(n.clock.When(p.until)-given.clock.When(p.lease)), a.By)
		}
	}
	g.relied = append(g.relied, reliance{n, n.clock, a.By, a.Local, a.Global, given.support})
	for i := range c.w.nodes {
		c.checkReliances(c.w.nodes[i])
	}
}

// checkReliances demands that nobody leads of whom somebody is assured that it
// does not.
func (c *checker) checkReliances(n *Node) {
	g := c.w.global
	g.relied = slices.DeleteFunc(g.relied, func(r reliance) bool {
		return r.clock.Show(c.w.now) >= timed.Later(r.local, r.global)
	})
	if !c.leads(n.index) {
		return
	}
	self := timed.Incarnation{Node: n.id, Boot: n.boot}
	for i := range g.relied {
		r := &g.relied[i]
		if r.by == self {
			continue
		}
		now := r.clock.Show(c.w.now)
		if now < r.global && c.leadsGlobally(n.index) && !c.anyUsedTwice() {
			c.fail("Verify", n, "leads globally although node %d is assured of %v for another %v", r.asker.id, r.by, r.global.Sub(now))
		}
		if both := r.support.Intersect(c.claims[n.index].support); now < r.local && !both.Empty() && !c.anyUsedTwice() {
			c.fail("Verify", n, "leads with %v although node %d is assured of %v for another %v", both, r.asker.id, r.by, r.local.Sub(now))
		}
		if i := slices.IndexFunc(c.w.nodes, func(m *Node) bool { return m.id == r.by.Node && m.boot == r.by.Boot }); i >= 0 && !c.leads(i) {
			c.sometimes(AssuredBeyond)
		}
	}
}

// anyUsedTwice reports whether some id has, or had, a rival, whose processes vote
// on their own.
func (c *checker) anyUsedTwice() bool { return len(c.w.nodes) > c.w.opt.Nodes }
