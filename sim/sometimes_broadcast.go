package sim

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// needsBroadcast says for which options a situation of the broadcast can come
// about.
func (s Situation) needsBroadcast(o *Options) bool {
	b := o.Broadcast
	switch {
	case b == nil || b.Quiet: // what applications do is theirs
		return false
	case s == CastWindowFull, s == CastSlow, s == CastSlowLeft:
		return true
	case s == CastNoQuorum:
		return o.Nodes >= 2 && (b.Config == nil || !b.Config.RequireQuorum.Empty())
	case s == CastFragment:
		return o.Nodes >= 2 && b.Config == nil
	case s == CastElsewhere, s == CastMerged, s == CastFlushed, s == CastRecovered:
		return o.Nodes >= 3
	}
	return o.Nodes >= 2
}

// begins takes that a node begins a view.
func (c *castCheck) begins(n *castNode, v *membership.View) {
	for _, id := range n.mine {
		if m := c.sent[id]; m != nil && !m.outcome {
			c.sometimes(CastUndelivered)
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
		c.sometimes(CastMerged)
	}
}

// says takes what a node says with a packet.
func (c *castCheck) says(n *Node, p *broadcast.Packet) {
	for i := range p.Decisions {
		c.decided(p.View, &p.Decisions[i])
	}
	if p.Plan != nil {
		for i := range p.Plan.Groups {
			g := &p.Plan.Groups[i]
			if len(g.Lack) > 0 {
				c.sometimes(CastFlushed)
			}
			if len(g.Fill) > 0 {
				c.sometimes(CastRecovered)
			}
		}
	}
	for i := range p.Wants {
		c.sometimes(CastAsked)
		if c.wantsFragment(&p.Wants[i]) {
			c.sometimes(CastFragment)
		}
	}
}

// wantsFragment reports whether what is asked for includes a fragment of a
// message that is still under way.
func (c *castCheck) wantsFragment(w *broadcast.Want) bool {
	n := c.nodes[timed.Incarnation{Node: w.Sender, Boot: w.Boot}]
	if n == nil {
		return false
	}
	for _, id := range n.mine {
		if m := c.sent[id]; m != nil && id.Class == w.Class && id.Sequence > m.first && m.first <= w.To && w.From <= id.Sequence {
			return true
		}
	}
	return false
}

// crashed takes the end of an incarnation.
func (c *castCheck) crashed(n *Node) {
	c.nodes[n.Incarnation()].dead = true
	for _, e := range n.w.queue.heap {
		if e.kind() != deliver {
			continue
		}
		if f := n.w.slots[e.arg]; int(f.from) == n.index && f.packet.Header.Boot == n.boot && f.carriesDecision() {
			c.sometimes(CastDeciderGone)
			return
		}
	}
}
