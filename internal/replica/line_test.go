package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Members whose states have as many ancestors as a state can have, all of them different,
// keep the newest ones of their merger.
func mergedLines(t testing.TB) {
	m := &Replica{viewState: viewState{view: &membership.View{Set: timed.SetOf(1, 2)}, reports: []*report{{}, {}}}}
	var all []Ancestor
	for i := range uint64(2 * maxLine) {
		a := Ancestor{View: membership.ViewID{Sequence: i + 1}}
		all = append(all, a)
		r := m.reports[i%2]
		r.lineage.Line = append(r.lineage.Line, a)
	}
	require.Equal(t, all[maxLine:], m.lineOf(m.view.Set))
}

// Members with one state have its ancestors, each of them once.
func equalLines(t testing.TB) {
	m := &Replica{viewState: viewState{view: &membership.View{Set: timed.SetOf(1, 2)}, reports: []*report{{}, {}}}}
	for i := range uint64(3) {
		for _, r := range m.reports {
			r.lineage.Line = append(r.lineage.Line, Ancestor{View: membership.ViewID{Sequence: i + 1}})
		}
	}
	require.Equal(t, m.reports[0].lineage.Line, m.lineOf(m.view.Set))
}

func TestMergersKeepTheNewestAncestors(t *testing.T) { mergedLines(t) }

func TestAncestorsAreNamedOnce(t *testing.T) { equalLines(t) }
