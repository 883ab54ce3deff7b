package broadcast

import (
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// handleReport takes the report of a member of this node's proposal. The first report of
// each member counts, once all its pieces are here. The member may report more later, but
// its promise covers only the first report.
func (s *Service) handleReport(now timed.Instant, from timed.Incarnation, r *Report) {
	f := &s.freeze
	if !f.on || !f.lead || !r.Valid() || r.Proposal != f.proposal {
		return
	}
	for i := range f.view.Members {
		if f.view.Members[i].Incarnation != from || f.reports[i] != nil || !f.parts[i].put(r.Piece, r) {
			continue
		}
		f.reports[i] = joinReport(f.parts[i].pieces)
		f.parts[i].pieces = nil
		if f.missing--; f.missing == 0 {
			s.makePlan(now)
		}
	}
}

// Ready reports whether all members of the proposal that this node leads hold the messages
// that they must hold, so that the proposal can be committed.
func (s *Service) Ready(id membership.ViewID) bool {
	f := &s.freeze
	return f.on && f.lead && f.proposal == id && f.flushed
}

// makePlan compares the reports. Members that come from the same view end with the last
// message that one of them holds.
func (s *Service) makePlan(now timed.Instant) {
	f := &s.freeze
	p := &Plan{Proposal: f.proposal}
	c := &Commit{Proposal: f.proposal}
	for i, r := range f.reports {
		if r.Previous.None() || c.branch(r.Previous) != nil {
			continue
		}
		g, b := f.endOf(i)
		p.Groups = append(p.Groups, g)
		c.Branches = append(c.Branches, b)
		for _, l := range g.Lack {
			f.lacking.Add(l.Node)
		}
		for _, fl := range g.Fill {
			f.lacking.Add(fl.Member)
		}
	}
	c.Ordered, c.Unordered = f.base(ClassOrdered), f.base(ClassUnordered)
	f.commit, f.terms = c, cutCommit(c, s.cfg.PacketBytes)
	if f.lacking.Empty() {
		f.flushed, f.news = true, true
		return
	}
	f.plan, f.news = cutPlan(p, s.cfg.PacketBytes), true
	s.follow(now, p)
}

// base returns how far the messages of all nodes were ordered, or delivered, in some
// branch. The messages of absent nodes count too: a new member that gets the state of an
// application from another one must not order again what that state contains. If the
// position of a member may have been left out, all that it ever sent counts as ordered.
func (f *freeze) base(c Class) []Mark {
	var all positions
	for _, r := range f.reports {
		all.add(r.marks(c))
	}
	for i := range f.view.Members {
		m := f.view.Members[i].Incarnation
		mark := Mark{m.Node, m.Boot, all.of(m)}
		if all.forgot(m.Node) {
			mark.Sequence = f.reports[i].Sent[c]
		}
		all.set(mark)
	}
	return all.list()
}

// endOf returns the messages that members from the same view as the i-th lack, and how
// that view ends.
func (f *freeze) endOf(i int) (Group, Branch) {
	first := f.reports[i]
	g := Group{Previous: first.Previous}
	b := Branch{Previous: first.Previous}
	for j, r := range f.reports {
		if r.Previous == g.Previous && (r.Have > g.End || g.Source == timed.NoNode) {
			g.End, g.Source = r.Have, f.view.Members[j].Node
		}
	}
	b.End = g.End
	for _, r := range f.reports {
		if r.Previous == g.Previous {
			b.Stable[0], b.Stable[1] = max(b.Stable[0], r.Stable[0]), max(b.Stable[1], r.Stable[1])
		}
	}
	for _, a := range first.Acks {
		who := timed.Incarnation{Node: a.Node, Boot: a.Boot}
		for j, r := range f.reports {
			if r.Previous != g.Previous {
				continue
			}
			a.Sequence = max(a.Sequence, find(r.Acks, who))
			if f.view.Members[j].Incarnation == who {
				a.Sequence = g.End
			}
		}
		b.Acks = append(b.Acks, a)
		f.fills(&g, who)
	}
	for j, r := range f.reports {
		if r.Previous == g.Previous && r.Have < g.End {
			g.Lack = append(g.Lack, Lack{f.view.Members[j].Node, r.Have})
		}
	}
	return g, b
}

// fills adds the Unordered messages of a sender that some members lack and one holds.
func (f *freeze) fills(g *Group, sender timed.Incarnation) {
	most, holder := uint64(0), timed.NoNode
	for j, r := range f.reports {
		if r.Previous != g.Previous {
			continue // before the search for the mark, which is slow in large groups
		}
		if n := find(r.Unordered, sender); n > most {
			most, holder = n, f.view.Members[j].Node
		}
	}
	for j, r := range f.reports {
		if r.Previous != g.Previous {
			continue
		}
		if n := find(r.Unordered, sender); n < most {
			g.Fill = append(g.Fill, Fill{Member: f.view.Members[j].Node, Holder: holder,
				Sender: sender.Node, Boot: sender.Boot, From: n, To: most})
		}
	}
}

// handleDone takes a member's message that it has everything that the plan assigned to it.
func (s *Service) handleDone(from timed.Incarnation, id membership.ViewID) {
	f := &s.freeze
	if !f.on || !f.lead || id != f.proposal || f.plan == nil || !f.view.Has(from) {
		return
	}
	f.lacking.Remove(from.Node)
	if f.lacking.Empty() && !f.flushed {
		f.flushed, f.news = true, true
	}
}
