package quorum

import (
	"errors"
	"fmt"
	"slices"

	"github.com/failaware/failaware/timed"
)

// MaxQuorums is how many quorums an explicit system can list, and how many rows
// a grid can have. Each round counts through them.
const MaxQuorums = 1024

type grid struct {
	common
	rows []timed.Set
}

// Grid returns the system whose quorums hold a whole row and at least one member
// of every other row: in a square of n members hardly more than 2√n are needed.
// Rows may differ in length, and no member is in two of them.
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
	rows = slices.SortedFunc(slices.Values(rows), compareSets)
	return &grid{newCommon(members, gridName, sets(rows)), rows}, nil
}

// IsQuorum: one of two quorums has a whole row, and the other some of it.
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
	quorums []timed.Set // none contains another
}

// Explicit returns the system of the listed quorums, and what contains one.
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
	// Who is only in quorums that contain others never makes a difference.
	least := leastSets(quorums)
	var members timed.Set
	for _, q := range least {
		members = members.Union(q)
	}
	return &explicit{newCommon(members, explicitName, sets(least)), least}, nil
}

func (e *explicit) IsQuorum(s timed.Set) bool {
	for _, q := range e.quorums {
		if q.Subset(s) {
			return true
		}
	}
	return false
}

func checkLists(whole, part string, lists []timed.Set) error {
	if len(lists) == 0 {
		return errors.New("quorum: the " + whole + " has no " + part)
	}
	if len(lists) > MaxQuorums {
		return fmt.Errorf("quorum: the %s has %d %ss; at most %d are possible", whole, len(lists), part, MaxQuorums)
	}
	if slices.ContainsFunc(lists, timed.Set.Empty) {
		return errors.New("quorum: a " + part + " of the " + whole + " is empty")
	}
	return nil
}

// leastSets returns, sorted, those sets that contain no other one.
func leastSets(all []timed.Set) []timed.Set {
	sorted := slices.Compact(slices.SortedFunc(slices.Values(all), compareSets))
	return slices.DeleteFunc(slices.Clone(sorted), func(s timed.Set) bool {
		return slices.ContainsFunc(sorted, func(t timed.Set) bool { return t != s && t.Subset(s) })
	})
}

// compareSets orders sets by their lists of ids.
func compareSets(a, b timed.Set) int {
	x, y := a.Next(0), b.Next(0)
	for x == y && x != 0 {
		x, y = a.Next(x), b.Next(y)
	}
	return int(x) - int(y)
}
