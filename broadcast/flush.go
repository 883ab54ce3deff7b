package broadcast

import (
	"slices"

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
	f.news, f.patient = true, now.Add(patience*s.cfg.Timing.Expires)
	parts := f.parted(p)
	for i := range parts {
		if m := f.view.Members[i].Node; m != s.cfg.Self.Node {
			for _, piece := range cutPlan(&parts[i], s.cfg.PacketBytes) {
				f.orders = append(f.orders, order{m, piece})
			}
		}
	}
	s.follow(now, &parts[f.view.Set.Rank(s.cfg.Self.Node)])
}

// parted returns what each member needs of a plan: how the view that it comes from ends, what it
// lacks, and what others lack that it has. In a large group under load the whole plan is megabytes.
func (f *freeze) parted(p *Plan) []Plan {
	parts := make([]Plan, len(f.view.Members))
	of := func(id timed.NodeID) *Group { return &parts[f.view.Set.Rank(id)].Groups[0] }
	for j, r := range f.reports {
		parts[j].Proposal = p.Proposal
		for i := range p.Groups {
			if g := &p.Groups[i]; g.Previous == r.Previous {
				parts[j].Groups = []Group{{Previous: g.Previous, End: g.End, Source: g.Source}}
			}
		}
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		of(g.Source).Lack = g.Lack
		for _, fl := range g.Fill {
			member, holder := of(fl.Member), of(fl.Holder)
			member.Fill, holder.Fill = append(member.Fill, fl), append(holder.Fill, fl)
		}
	}
	return parts
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
	b.Acks = slices.Clone(first.Acks)
	of := placesOf(b.Acks)
	for j, r := range f.reports {
		if r.Previous != g.Previous {
			continue
		}
		of.each(r.Acks, func(k int, sequence uint64) { b.Acks[k].Sequence = max(b.Acks[k].Sequence, sequence) })
		m := f.view.Members[j].Incarnation // it gets to the end before the view is installed
		of.each([]Mark{{m.Node, m.Boot, g.End}}, func(k int, sequence uint64) { b.Acks[k].Sequence = sequence })
		if r.Have < g.End {
			g.Lack = append(g.Lack, Lack{m.Node, r.Have})
		}
	}
	f.fill(&g, of)
	return g, b
}

// places finds incarnations in a list of marks that has each node once.
type places struct {
	marks []Mark
	at    [timed.MaxNodes + 1]int // where a node is, from 1; 0: it is not there
}

func placesOf(marks []Mark) *places {
	p := &places{marks: marks}
	for k, m := range marks {
		p.at[m.Node] = k + 1
	}
	return p
}

// each calls do with the places of the incarnations in other marks, and their sequences.
func (p *places) each(marks []Mark, do func(k int, sequence uint64)) {
	for _, m := range marks {
		if k := p.at[m.Node] - 1; k >= 0 && p.marks[k].Boot == m.Boot {
			do(k, m.Sequence)
		}
	}
}

// fill adds the Unordered messages of each sender that some members lack and one holds.
func (f *freeze) fill(g *Group, senders *places) {
	n := len(senders.marks)
	has := make([]uint64, len(f.reports)*n) // by member and sender
	most, holder := make([]uint64, n), make([]timed.NodeID, n)
	for j, r := range f.reports {
		if r.Previous == g.Previous {
			senders.each(r.Unordered, func(k int, sequence uint64) {
				if has[j*n+k] = sequence; sequence > most[k] {
					most[k], holder[k] = sequence, f.view.Members[j].Node
				}
			})
		}
	}
	for k, m := range senders.marks {
		for j, r := range f.reports {
			if from := has[j*n+k]; r.Previous == g.Previous && from < most[k] {
				g.Fill = append(g.Fill, Fill{Member: f.view.Members[j].Node, Holder: holder[k],
					Sender: m.Node, Boot: m.Boot, From: from, To: most[k]})
			}
		}
	}
}

// patience is for how many times Expires the members of a proposal may fetch what they lack.
const patience = 10

// Stuck returns members of the proposal that this node leads whose flush takes so long that
// they seem to hear nobody who holds what they lack: the leader does not if they come from
// another view than it. Those that come from the same view as they, and lack nothing, or else one
// of them, can go on. The others then come from that view alone, and lack nothing.
func (s *Service) Stuck(now timed.Instant) (stuck timed.Set) {
	f := &s.freeze
	if !f.on || !f.lead || f.patient == 0 || f.flushed || now < f.patient {
		return stuck
	}
	for _, b := range f.commit.Branches {
		var from timed.Set
		for i, r := range f.reports {
			if r.Previous == b.Previous {
				from.Add(f.view.Members[i].Node)
			}
		}
		lacking := from.Intersect(f.lacking)
		if lacking == from {
			lacking.Remove(lacking.Min())
		}
		stuck = stuck.Union(lacking)
	}
	return stuck
}

// handleDone takes a member's message that it has everything that the plan assigned to it.
func (s *Service) handleDone(from timed.Incarnation, id membership.ViewID) {
	f := &s.freeze
	if !f.on || !f.lead || id != f.proposal || f.orders == nil || !f.view.Has(from) {
		return
	}
	f.lacking.Remove(from.Node)
	f.told.Add(from.Node)
	if f.lacking.Empty() && !f.flushed {
		f.flushed, f.news = true, true
	}
}
