package replica

import (
	"slices"

	"github.com/failaware/failaware/membership"
)

// Lineage identifies a state, and names the states that it continues. The zero value is the
// lineage of the initial state of every application. Copies share Line, which is never changed
// in place.
type Lineage struct {
	Label Label
	// End is where an incarnation left the state, if the label names the state there and
	// not that at the beginning of a view.
	End Name
	// Line has the states that this one continues, oldest first. A state that is missing in
	// it is merged with this one, even if this one contains it.
	Line []Ancestor
	Rank uint64 // with a Quorum
	Era  Era    // in which the state got its rank
}

// Ancestor is a state that another one continues: that at the beginning of a view, and those
// at all positions through Reached in it.
type Ancestor struct {
	Label   Label
	View    membership.ViewID // zero: at the beginning only
	Reached uint64
}

// maxLine limits the ancestors. A state that is older than all of them counts as a branch of
// its own.
const maxLine = 64

// unnamed returns only the rank and era, for a node whose state is not known.
func (l *Lineage) unnamed() Lineage { return Lineage{Rank: l.Rank, Era: l.Era} }

// through returns the lineage of the state with everything through a position of a view.
func (l *Lineage) through(view membership.ViewID, position uint64) Lineage {
	end := Name{l.Label, view, position}
	next := l.relabeled(end, end.label())
	next.End = end
	return next
}

// relabeled returns the lineage of a state that continues this one through a position and has
// a label of its own.
func (l *Lineage) relabeled(through Name, label Label) Lineage {
	line := appendLine(slices.Clone(l.Line), Ancestor{through.Label, through.View, through.Position})
	return Lineage{Label: label, Line: line, Rank: l.Rank, Era: l.Era}
}

// appendLine appends an ancestor, and drops the oldest if there are too many.
func appendLine(line []Ancestor, a Ancestor) []Ancestor {
	line = append(line, a)
	return line[max(0, len(line)-maxLine):]
}

// contains reports whether an ancestor is the state with a label, or contains it by the
// position at which an incarnation left it.
func (a *Ancestor) contains(label Label, end Name) bool {
	return a.Label == label || !end.View.None() && a.Label == end.Label && a.View == end.View && a.Reached >= end.Position
}
