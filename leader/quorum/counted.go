package quorum

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/failaware/failaware/timed"
)

type majority struct {
	common
	need int
}

// Majority returns the system whose quorums are the sets with more than half of
// the members.
func Majority(members timed.Set) (System, error) {
	if members.Empty() {
		return nil, errors.New("quorum: a majority of no members")
	}
	return &majority{newCommon(members, majorityName, sets([]timed.Set{members})), members.Len()/2 + 1}, nil
}

func (m *majority) IsQuorum(s timed.Set) bool { return s.Intersect(m.members).Len() >= m.need }

// Votes is how much the vote of a node counts in a weighted system.
type Votes struct {
	Node   timed.NodeID
	Weight uint16
}

type weighted struct {
	common
	weight [timed.MaxNodes + 1]uint16
	half   uint32 // of all weights together, rounded down
}

// Weighted returns the system whose quorums are the sets with more than half of
// all weights. Weights are at least 1.
func Weighted(votes ...Votes) (System, error) {
	if len(votes) == 0 {
		return nil, errors.New("quorum: weights of no members")
	}
	w := &weighted{}
	var members timed.Set
	total := uint32(0) // at most 255 × 65,535
	for _, v := range votes {
		switch {
		case !v.Node.Valid():
			return nil, fmt.Errorf("quorum: a weight for a node id outside 1 to %d", timed.MaxNodes)
		case members.Has(v.Node):
			return nil, fmt.Errorf("quorum: node %v has two weights", v.Node)
		case v.Weight == 0:
			return nil, fmt.Errorf("quorum: the weight of node %v is 0; whoever is to have no say is left out", v.Node)
		}
		members.Add(v.Node)
		w.weight[v.Node] = v.Weight
		total += uint32(v.Weight)
	}
	w.half = total / 2
	sorted := slices.SortedFunc(slices.Values(votes), func(a, b Votes) int { return cmp.Compare(a.Node, b.Node) })
	var b strings.Builder
	for i, v := range sorted {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.Node.String() + "=" + strconv.Itoa(int(v.Weight)))
	}
	w.common = newCommon(members, weightedName, b.String())
	return w, nil
}

func (w *weighted) IsQuorum(s timed.Set) bool {
	sum := uint32(0)
	s = s.Intersect(w.members)
	for id := s.Next(0); id != 0; id = s.Next(id) {
		sum += uint32(w.weight[id])
	}
	return sum > w.half
}
