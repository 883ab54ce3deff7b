package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// drawReports draws the reports of all members of a view, who come from up to two views.
func drawReports(t *rapid.T, v *membership.View) (reports []*Report) {
	small := rapid.Uint64Range(0, 4)
	of := v.Set.With(9) // which did not come along
	for range v.Members {
		r := &Report{Previous: membership.ViewID{Sequence: rapid.Uint64Range(1, 2).Draw(t, "previous"), Leader: 1, Boot: 1}, Have: small.Draw(t, "have"),
			Stable: [2]uint64{small.Draw(t, "strong"), small.Draw(t, "strict")}}
		for id := of.Next(0); id != 0; id = of.Next(id) {
			boot := timed.BootID(99 + id)
			r.Acks = append(r.Acks, Mark{id, boot, small.Draw(t, "ack")})
			r.Unordered = append(r.Unordered, Mark{id, boot, small.Draw(t, "unordered")})
		}
		reports = append(reports, r)
	}
	for _, r := range reports {
		for i := range v.Members { // nobody acknowledges more than it has
			if r.Previous == reports[i].Previous {
				r.Acks[i].Sequence = min(r.Acks[i].Sequence, reports[i].Have)
			}
		}
	}
	return reports
}

// endsAsAllKnow checks that a view ends with what its members know together, whoever of them
// reports what.
func endsAsAllKnow(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		v := viewOf(9, members(rapid.IntRange(1, 4).Draw(t, "members"))...)
		f := &freeze{view: v, reports: drawReports(t, v)}
		for i, r := range f.reports {
			g, b := f.endOf(i)
			require.Equal(t, []membership.ViewID{r.Previous, r.Previous}, []membership.ViewID{g.Previous, b.Previous})
			require.Equal(t, g.End, b.End)
			checkEnd(t, f, g, b)
		}
	})
}

// checkEnd compares an end with the reports from its view.
func checkEnd(t *rapid.T, f *freeze, g Group, b Branch) {
	var end, strong, strict uint64
	var lack []Lack
	acks, holds := map[timed.NodeID]uint64{}, map[timed.NodeID]uint64{}
	each := func(do func(id timed.NodeID, r *Report)) {
		for i, r := range f.reports {
			if r.Previous == g.Previous {
				do(f.view.Members[i].Node, r)
			}
		}
	}
	each(func(_ timed.NodeID, r *Report) {
		end, strong, strict = max(end, r.Have), max(strong, r.Stable[0]), max(strict, r.Stable[1])
		for k := range r.Acks {
			id := r.Acks[k].Node
			acks[id], holds[id] = max(acks[id], r.Acks[k].Sequence), max(holds[id], r.Unordered[k].Sequence)
		}
	})
	each(func(id timed.NodeID, r *Report) {
		acks[id] = end // it gets there before the view is installed
		if r.Have < end {
			lack = append(lack, Lack{id, r.Have})
		}
		if id == g.Source {
			require.Equal(t, end, r.Have, "the source has all")
		}
		for _, m := range r.Unordered {
			fl := fillOf(&g, id, m.Node)
			require.Equal(t, m.Sequence < holds[m.Node], fl != nil)
			if fl != nil {
				require.Equal(t, Fill{id, fl.Holder, m.Node, m.Boot, m.Sequence, holds[m.Node]}, *fl)
			}
		}
		for _, fl := range g.Fill {
			if fl.Holder == id {
				require.Equal(t, fl.To, find(r.Unordered, timed.Incarnation{Node: fl.Sender, Boot: fl.Boot}), "the holder has them")
			}
		}
	})
	require.Equal(t, end, b.End)
	require.Equal(t, [2]uint64{strong, strict}, b.Stable)
	require.Equal(t, lack, g.Lack)
	for _, a := range b.Acks {
		require.Equal(t, acks[a.Node], a.Sequence, "of node %d", a.Node)
	}
}

// fillOf returns the Unordered messages of a sender that a member lacks, or nil.
func fillOf(g *Group, member, sender timed.NodeID) *Fill {
	for i := range g.Fill {
		if f := &g.Fill[i]; f.Member == member && f.Sender == sender {
			return f
		}
	}
	return nil
}

func TestAViewEndsAsItsMembersKnowTogether(t *testing.T) { endsAsAllKnow(t) }

// endsWithItsPlan reports whether a member that knows a decision beyond the end of its plan
// forgets it, and asks for what the plan says, where the plan says.
func endsWithItsPlan() bool {
	g := newTrio(3, Config{})
	s, v := g.nodes[1], viewOf(2, 0, 1, 2)
	s.handleDecision(g.now, &Decision{Number: s.known + 1, Ranges: []Range{{Member: 0, Class: ClassUnordered, To: 3}}})
	end := s.have
	if s.known != end+1 {
		return false
	}
	s.Freeze(g.now, v, false)
	sender := incarnation(0)
	s.follow(g.now, &Plan{Proposal: v.ID, Groups: []Group{{Previous: s.view.ID, End: end, Source: 1,
		Fill: []Fill{{Member: 2, Holder: 3, Sender: sender.Node, Boot: sender.Boot, To: 2}}}}})
	return s.known == end && s.wanted(0, ClassUnordered) == 2 && s.target(0, ClassUnordered, 0) == 2
}

func TestDecisionsEndWithThePlan(t *testing.T) { require.True(t, endsWithItsPlan()) }
