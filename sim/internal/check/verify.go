package check

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// answerKey names an answer to the question whether the answering node leads.
type answerKey struct {
	by    timed.Incarnation
	asker timed.BootID
	asked timed.Instant
}

// answerGiven is the state of the answering node at its answer.
type answerGiven struct {
	clock   *hardware.Clock
	local   timed.Instant // end of the lease
	global  timed.Instant // of the global one
	support timed.Set
}

// reliance is an assurance that a node may rely on.
type reliance struct {
	asker         *Process
	clock         *hardware.Clock // the asker's; a reboot gives the machine another one
	by            timed.Incarnation
	local, global timed.Instant
	support       timed.Set
}

// Answered records an answer of a node.
func (c *Checker) Answered(n *Process, p *wire.Packet) {
	if p.Answer.Local == 0 {
		return
	}
	el := n.Stack.Election()
	a := &answerGiven{clock: n.Clock, support: el.Support()}
	a.local, _ = el.Leading()
	a.global, _ = el.LeadingGlobally()
	// The node may have won a round later in this turn, with other votes. The answer is about
	// the lease before, then.
	end := p.Header.Stamp.Add(p.Answer.Local)
	if cl := &c.Claims[n.Index]; cl.Leading && cl.expiration == end {
		a.local, a.global, a.support = end, cl.GlobalEnd, cl.Support
	}
	if a.local != end {
		c.Fail("Verify", n, "answers that it leads until %v, when no lease of it ends", end)
	}
	key := answerKey{n.Incarnation(), p.Answer.Asker, p.Answer.Asked}
	if b := c.global.answers[key]; b != nil { // the question came twice, and the lease may have become shorter
		if b.local > a.local {
			a.local, a.support = b.local, b.support
		}
		a.global = timed.Later(a.global, b.global)
	}
	c.global.answers[key] = a
}

// verified checks an assurance that a node relies on from now on. It must end no later than
// the lease that it is about.
func (c *Checker) verified(n *Process, e *stack.Event) {
	g, a := c.global, e.Assurance
	given := g.answers[answerKey{a.By, n.Boot, a.Asked}]
	if a.Local == 0 || given == nil {
		if a.Local > 0 || a.Global > 0 {
			c.Fail("Verify", n, "is assured by %v, which gave no such answer", a.By)
		}
		return
	}
	for _, p := range []struct{ until, lease timed.Instant }{{a.Local, given.local}, {a.Global, given.global}} {
		if n.Clock.Show(c.Now) >= p.until {
			continue // over already
		}
		if given.clock.Show(c.Now) >= p.lease || n.Clock.When(p.until) > given.clock.When(p.lease) {
			c.Fail("Verify", n, "is assured for %v longer than the lease of %v lasts",
				time.Duration(n.Clock.When(p.until)-given.clock.When(p.lease)), a.By)
		}
	}
	g.relied = append(g.relied, reliance{n, n.Clock, a.By, a.Local, a.Global, given.support})
	for i := range c.processes {
		c.checkReliances(c.processes[i])
	}
}

// checkReliances demands that a node does not lead while another node is assured that no
// third node does.
func (c *Checker) checkReliances(n *Process) {
	g := c.global
	g.relied = slices.DeleteFunc(g.relied, func(r reliance) bool {
		return r.clock.Show(c.Now) >= timed.Later(r.local, r.global)
	})
	if !c.Leads(n.Index) {
		return
	}
	self := n.Incarnation()
	for i := range g.relied {
		r := &g.relied[i]
		if r.by == self {
			continue
		}
		now := r.clock.Show(c.Now)
		if now < r.global && c.LeadsGlobally(n.Index) && !c.anyUsedTwice() {
			c.Fail("Verify", n, "leads globally although node %d is assured of %v for another %v", r.asker.ID, r.by, r.global.Sub(now))
		}
		if both := r.support.Intersect(c.Claims[n.Index].Support); now < r.local && !both.Empty() && !c.anyUsedTwice() {
			c.Fail("Verify", n, "leads with %v although node %d is assured of %v for another %v", both, r.asker.ID, r.by, r.local.Sub(now))
		}
		if i := slices.IndexFunc(c.processes, func(m *Process) bool { return m.ID == r.by.Node && m.Boot == r.by.Boot }); i >= 0 && !c.Leads(i) {
			c.Sometimes(situation.AssuredBeyond)
		}
	}
}

// anyUsedTwice reports whether some id has, or had, a rival.
func (c *Checker) anyUsedTwice() bool { return len(c.processes) > c.Nodes }
