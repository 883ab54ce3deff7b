package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A snapshot comes from a member that holds it already, if one does, and among equals from the
// one that sends least, or has the smallest id: all members choose the same one.
func TestTheSourceHoldsTheSnapshotOrSendsLeast(t *testing.T) {
	n, other := Name{Label: Label{1}}, Name{Label: Label{2}}
	m := &Replica{viewState: viewState{view: &membership.View{Set: timed.SetOf(1, 2, 3, 4)}}}
	for _, held := range []struct {
		by    [4]Name // what each member holds
		loads [4]uint64
		want  timed.NodeID
	}{
		{want: 1},
		{loads: [4]uint64{9, 7, 7, 8}, want: 2},
		{by: [4]Name{other, other, n, other}, loads: [4]uint64{1, 1, 9, 1}, want: 3},
		{by: [4]Name{n, other, other, n}, loads: [4]uint64{5, 1, 1, 4}, want: 4},
		{by: [4]Name{n, other, n, n}, loads: [4]uint64{5, 1, 5, 5}, want: 1},
	} {
		m.reports = nil
		for i, name := range held.by {
			m.reports = append(m.reports, &report{load: held.loads[i], held: []copyOf{{name: name}}})
		}
		require.Equal(t, held.want, m.choose(n, timed.SetOf(1, 2, 3, 4)), "%+v", held)
	}
	m.refused = timed.SetOf(1)
	require.Equal(t, timed.NodeID(3), m.choose(n, timed.SetOf(1, 2, 3, 4)), "the first refuses")
	require.Equal(t, timed.NoNode, m.choose(n, timed.SetOf(1)))
}

// A state counts as one of its members says. The rank that one gives it and the vote of another
// prove nothing together: what lasts may be in another state.
func TestAStateCountsAsOneOfItsMembersSays(t *testing.T) {
	for _, x := range []struct{ more, less branch }{
		{branch{epoch: 1, counts: true, rank: 3}, branch{epoch: 1, rank: 5}},
		{branch{epoch: 2, rank: 3}, branch{epoch: 1, counts: true, rank: 5}},
		{branch{epoch: 1, rank: 5}, branch{epoch: 1, rank: 3}},
	} {
		for _, first := range []bool{true, false} {
			b, o := x.less, x.more
			if first {
				b, o = x.more, x.less
			}
			b.members, o.members = timed.SetOf(1), timed.SetOf(2)
			b.absorb(&o)
			x.more.members = timed.SetOf(1, 2)
			require.Equal(t, x.more, b)
		}
	}
}
