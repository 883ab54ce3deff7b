package check

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// countInstalled counts the situations at the beginning of a view.
func (c *Broadcasts) countInstalled(n *member, v *membership.View) {
	for _, id := range n.mine {
		if m := c.Sent[id]; m != nil && !m.Outcome {
			c.sometimes(situation.CastUndelivered)
			break
		}
	}
	if c.views[v.ID] != nil {
		return
	}
	busy := 0
	for _, b := range v.Merged() {
		if u := c.views[b.From]; u != nil && len(u.sequence) > 0 {
			busy++
		}
	}
	if busy >= 2 {
		c.sometimes(situation.CastMerged)
	}
}

// NoteSent records the decisions, plans and requests in a packet that a node sends.
func (c *Broadcasts) NoteSent(p *broadcast.Packet) {
	for i := range p.Decisions {
		c.decided(p.View, &p.Decisions[i])
	}
	if p.Plan != nil {
		for i := range p.Plan.Groups {
			g := &p.Plan.Groups[i]
			if len(g.Lack) > 0 {
				c.sometimes(situation.CastFlushed)
			}
			if len(g.Fill) > 0 {
				c.sometimes(situation.CastRecovered)
			}
		}
	}
	for i := range p.Wants {
		c.sometimes(situation.CastAsked)
		if c.wantsFragment(&p.Wants[i]) {
			c.sometimes(situation.CastFragment)
		}
	}
}

// countArrival counts the situations of a packet that an incarnation handles, whose parts may
// be of earlier views or incarnations.
func (c *Broadcasts) countArrival(n *Process, p *broadcast.Packet) {
	v := n.Stack.BroadcastState().View()
	if v == nil {
		return
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		if !p.View.None() && p.View.Sequence < v.ID.Sequence {
			c.sometimes(situation.CastFormerView)
		}
		if m, ok := v.Member(r.Sender); ok && m.Boot != r.Boot {
			c.sometimes(situation.CastFormerBoot)
		}
	}
	former := func(id membership.ViewID) bool { return !id.None() && id.Sequence <= v.ID.Sequence }
	if former(p.Done) || p.Report != nil && former(p.Report.Proposal) || p.Plan != nil && former(p.Plan.Proposal) ||
		p.Commit != nil && former(p.Commit.Proposal) {
		c.sometimes(situation.CastFormerFlush)
	}
}

// Based counts the situations of the positions with which a view begins.
func (c *Broadcasts) Based(v *membership.View, base []broadcast.Mark) {
	var seen timed.Set
	for _, m := range base {
		if seen.Has(m.Node) && !v.Set.Has(m.Node) {
			c.sometimes(situation.CastAbsentTwice)
		}
		seen.Add(m.Node)
	}
}

// Refused counts the situation of a full window.
func (c *Broadcasts) Refused(n *Process) {
	c.sometimes(situation.CastWindowFull)
	var r membership.Report
	if n.Stack.Membership().FillReport(&r); r.Acknowledged != r.Installed {
		c.sometimes(situation.CastFullFrozen)
	}
}

// wantsFragment reports whether a request includes a fragment of a message that is
// still under way.
func (c *Broadcasts) wantsFragment(w *broadcast.Want) bool {
	n := c.nodes[timed.Incarnation{Node: w.Sender, Boot: w.Boot}]
	if n == nil {
		return false
	}
	for _, id := range n.mine {
		if m := c.Sent[id]; m != nil && id.Class == w.Class && id.Sequence > m.first && m.first <= w.To && w.From <= id.Sequence {
			return true
		}
	}
	return false
}

// crashed marks an incarnation as ended.
func (c *Broadcasts) crashed(n *Process) { c.nodes[n.Incarnation()].dead = true }
