package quorum

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/failaware/failaware/timed"
)

// MaxQuorums is the largest number of quorums in an explicit system and of rows
// in a grid. Each round of an election tests them one by one.
const MaxQuorums = 1024

type grid struct {
	common
	rows []timed.Set
}

// Grid returns the system whose quorums hold a whole row and at least one member
// of every other row. A quorum of a square grid has only about 2√n of its n
// members. Rows may differ in length, but must be disjoint.
func Grid(rows ...timed.Set) (System, error) {
	if err := checkLists("grid", "row", rows); err != nil {
		return nil, err
	}
	var members timed.Set
	for _, r := range rows {
		if both := members.Intersect(r); !both.Empty() {
			return nil, fmt.Errorf("quorum: node %v is in two rows of the grid", both.Min())
		}
		members = members.Union(r)
	}
	rows = sortedSets(rows)
	return &grid{newCommon(members, gridName, formatSets(rows...)), rows}, nil
}

// IsQuorum reports whether s holds a whole row and touches all others. Two
// quorums meet because each touches the whole row of the other.
func (g *grid) IsQuorum(s timed.Set) bool {
	whole := false
	for _, r := range g.rows {
		if !s.Intersects(r) {
			return false
		}
		whole = whole || r.Subset(s)
	}
	return whole
}

type explicit struct {
	common
	quorums []timed.Set // sorted; none contains another
}

// Explicit returns the system whose quorums are the given sets and all their
// supersets.
func Explicit(quorums ...timed.Set) (System, error) {
	if err := checkLists("list", "quorum", quorums); err != nil {
		return nil, err
	}
	for i, q := range quorums {
		for _, r := range quorums[:i] {
			if !q.Intersects(r) {
				return nil, fmt.Errorf("quorum: the quorums %v and %v have no node in common", r, q)
			}
		}
	}
	// A node that is in no minimal quorum never makes a difference.
	least := minimalSets(quorums)
	var members timed.Set
	for _, q := range least {
		members = members.Union(q)
	}
	text := formatSets(least...)
	if n := len(explicitName) + 1 + len(text); n > MaxText {
		return nil, fmt.Errorf("quorum: the text of the list has %d bytes, more than %d", n, MaxText)
	}
	return &explicit{newCommon(members, explicitName, text), least}, nil
}

func (e *explicit) IsQuorum(s timed.Set) bool {
	return slices.ContainsFunc(e.quorums, func(q timed.Set) bool { return q.Subset(s) })
}

func checkLists(whole, part string, lists []timed.Set) error {
	if len(lists) == 0 {
		return errors.New("quorum: the " + whole + " has no " + part)
	}
	if len(lists) > MaxQuorums {
		return fmt.Errorf("quorum: the %s has %d %ss, more than %d", whole, len(lists), part, MaxQuorums)
	}
	if slices.ContainsFunc(lists, timed.Set.Empty) {
		return errors.New("quorum: a " + part + " of the " + whole + " is empty")
	}
	return nil
}

// minimalSets returns the sets that contain no other one, sorted.
func minimalSets(all []timed.Set) []timed.Set {
	sorted := slices.Compact(sortedSets(all))
	return slices.DeleteFunc(slices.Clone(sorted), func(s timed.Set) bool {
		return slices.ContainsFunc(sorted, func(t timed.Set) bool { return t != s && t.Subset(s) })
	})
}

// sortedSets returns the sets in their order. It is no generic sort, whose code is ten times
// as large.
func sortedSets(all []timed.Set) []timed.Set {
	sorted := slices.Clone(all)
	sort.Slice(sorted, func(i, j int) bool { return compareSets(sorted[i], sorted[j]) < 0 })
	return sorted
}

// compareSets orders sets lexicographically by their ascending ids.
func compareSets(a, b timed.Set) int {
	x, y := a.Next(0), b.Next(0)
	for x == y && x != 0 {
		x, y = a.Next(x), b.Next(y)
	}
	return int(x) - int(y)
}
