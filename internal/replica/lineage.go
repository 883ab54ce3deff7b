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

// ofRank reports whether an ancestor is of the view whose sequence is the rank of the state,
// with Stored.
func (a *Ancestor) ofRank(rank uint64) bool {
	return !a.View.None() && a.View.Sequence == rank%generation
}

// farthest returns the index of the ancestor that tells how far a state got in the view of its
// rank, or -1 if none does.
func farthest(line []Ancestor, rank uint64) int {
	at := -1
	for i := range line {
		if line[i].ofRank(rank) && (at < 0 || line[i].Reached > line[at].Reached) {
			at = i
		}
	}
	return at
}

// rankedIn returns the position up to which a state with these ancestors has what was ordered in
// the view of a rank, with Stored.
func rankedIn(line []Ancestor, rank uint64) uint64 {
	if i := farthest(line, rank); i >= 0 {
		return line[i].Reached
	}
	return 0
}

// trimmed returns at most so many of the latest ancestors of a state with a rank. The farthest
// one in the view of the rank stays: what lasts there rests on it.
func trimmed(line []Ancestor, most int, rank uint64) []Ancestor {
	dropped := max(0, len(line)-most)
	kept := line[dropped:]
	first := farthest(line, rank)
	if first < 0 || first >= dropped {
		return kept
	}
	return append([]Ancestor{line[first]}, kept[1:]...)
}

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
	line := appendLine(slices.Clone(l.Line), Ancestor{through.Label, through.View, through.Position}, l.Rank)
	return Lineage{Label: label, Line: line, Rank: l.Rank, Era: l.Era}
}

// appendLine appends an ancestor of a state with a rank, and drops the oldest one if there are
// too many.
func appendLine(line []Ancestor, a Ancestor, rank uint64) []Ancestor {
	return trimmed(append(line, a), maxLine, rank)
}

// contains reports whether an ancestor is the state with a label, or contains it by the
// position at which an incarnation left it.
func (a *Ancestor) contains(label Label, end Name) bool {
	return a.Label == label || !end.View.None() && a.Label == end.Label && a.View == end.View && a.Reached >= end.Position
}
