package broadcast

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// drawMarks draws marks of up to n incarnations.
func drawMarks(t *rapid.T, name string, n int) (out []Mark) {
	for i := range rapid.IntRange(0, n).Draw(t, name) {
		out = append(out, Mark{Node: timed.NodeID(i + 1), Boot: 1, Sequence: uint64(i)})
	}
	return out
}

// shuffled returns pieces in another order, some twice.
func shuffled[T any](t *rapid.T, pieces []*T) []*T {
	return rapid.Permutation(slices.Concat(pieces, pieces[:rapid.IntRange(0, len(pieces)).Draw(t, "twice")])).Draw(t, "order")
}

// rejoined joins pieces as they come.
func rejoined[T any](t *rapid.T, pieces []*T, piece func(*T) Piece, join func([]*T) *T) *T {
	var z assembly[T]
	seen := map[Piece]bool{}
	var whole *T
	for _, p := range shuffled(t, pieces) {
		require.True(t, piece(p).Valid())
		seen[piece(p)] = true
		if z.put(piece(p), p) {
			require.Len(t, seen, len(pieces), "the last piece completes the whole")
			require.Nil(t, whole, "the whole completes once")
			whole = join(z.pieces)
		}
	}
	require.NotNil(t, whole)
	return whole
}

func TestPiecesMakeTheWhole(t *testing.T) {
	view := func(n int) membership.ViewID { return membership.ViewID{Sequence: uint64(n), Leader: 1, Boot: 1} }
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.IntRange(MinPacketBytes, 1500).Draw(t, "bytes")
		r := &Report{Proposal: view(9), Previous: view(8), Have: 7, Stable: [2]uint64{6, 5}, Sent: [2]uint64{4, 3},
			Acks: drawMarks(t, "acks", 50), Ordered: drawMarks(t, "ordered", 50), Unordered: drawMarks(t, "unordered", 50)}
		require.Equal(t, r, rejoined(t, cutReport(r, bytes), func(r *Report) Piece { return r.Piece }, joinReport))

		p, c := &Plan{Proposal: view(9)}, &Commit{Proposal: view(9), Ordered: drawMarks(t, "base", 50), Unordered: drawMarks(t, "ubase", 50)}
		for i := range rapid.IntRange(1, 8).Draw(t, "branches") {
			g := Group{Previous: view(i + 1), End: uint64(i), Source: 1}
			for range rapid.IntRange(0, 30).Draw(t, "lack") {
				g.Lack = append(g.Lack, Lack{Node: 1, Have: uint64(len(g.Lack))})
			}
			for range rapid.IntRange(0, 30).Draw(t, "fill") {
				g.Fill = append(g.Fill, Fill{Member: 1, Holder: 2, Sender: 3, Boot: 4, To: uint64(len(g.Fill))})
			}
			p.Groups = append(p.Groups, g)
			c.Branches = append(c.Branches, Branch{Previous: view(i + 1), End: uint64(i), Acks: drawMarks(t, "merged", 50)})
		}
		require.Equal(t, p, rejoined(t, cutPlan(p, bytes), func(p *Plan) Piece { return p.Piece }, joinPlan))
		require.Equal(t, c, rejoined(t, cutCommit(c, bytes), func(c *Commit) Piece { return c.Piece }, joinCommit))
	})
}

// The largest report, plan and commit of a group of any size take at most MaxPieces.
func TestTheMostTakesFewerPiecesThanThereMayBe(t *testing.T) {
	var all []Mark
	for i := range timed.MaxNodes {
		all = append(all, Mark{Node: timed.NodeID(i + 1), Boot: 1, Sequence: 1})
	}
	every := slices.Repeat(all, MostIncarnations)
	require.LessOrEqual(t, len(cutReport(&Report{Acks: all, Ordered: every, Unordered: every}, MinPacketBytes)), MaxPieces)
	c, p := &Commit{Ordered: every, Unordered: every}, &Plan{}
	for i := range timed.MaxNodes {
		v := membership.ViewID{Sequence: 1, Leader: timed.NodeID(i + 1), Boot: 1}
		c.Branches = append(c.Branches, Branch{Previous: v, Acks: all})
		p.Groups = append(p.Groups, Group{Previous: v, Lack: make([]Lack, 1), Fill: make([]Fill, timed.MaxNodes)})
	}
	require.LessOrEqual(t, len(cutCommit(c, MinPacketBytes)), MaxPieces)
	require.LessOrEqual(t, len(cutPlan(p, MinPacketBytes)), MaxPieces)
}

// A report with a missing piece does not count, whatever else comes. It counts once the
// piece is there.
func missingPieceHoldsUp() bool {
	tr := newTrio(16, Config{PacketBytes: MinPacketBytes})
	tr.turn()
	lost := true
	tr.drop = func(from, _ int, p *Packet) bool { return lost && from == 3 && p.Report != nil && p.Report.Number == 1 }
	v := viewOf(2, members(16)...)
	for i, s := range tr.nodes {
		s.Freeze(tr.now, v, i == 0)
	}
	pass := func() bool {
		for range 20 {
			tr.turn()
			tr.now = tr.now.Add(3 * tr.nodes[0].cfg.Timing.OneWayTimeout / 2)
		}
		return tr.nodes[0].Ready(v.ID)
	}
	early := pass()
	lost = false
	return !early && pass()
}

func members(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestAReportCountsWhenItIsWhole(t *testing.T) { require.True(t, missingPieceHoldsUp()) }

// keepsProposalsApart has a member's first report, for an abandoned proposal, arrive
// after the next proposal, together with a part of the second report.
func keepsProposalsApart() bool {
	tr := newTrio(16, Config{PacketBytes: MinPacketBytes})
	tr.turn()
	var old []*Report
	s := tr.nodes[3]
	first, second := viewOf(2, members(16)...), viewOf(3, members(16)...)
	s.Freeze(tr.now, first, false)
	old = s.freeze.report
	leader := tr.nodes[0]
	leader.Freeze(tr.now, second, true)
	s.Freeze(tr.now, second, false)
	leader.handleReport(tr.now, s.cfg.Self, s.freeze.report[0])
	for _, r := range old[1:] {
		leader.handleReport(tr.now, s.cfg.Self, r)
	}
	return leader.freeze.reports[3] == nil && len(old) > 1
}

func TestPiecesOfTwoProposalsAreKeptApart(t *testing.T) { require.True(t, keepsProposalsApart()) }
