package quorum

import (
	"errors"
	"fmt"
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
	return &majority{newCommon(members, majorityName, formatSets(members)), members.Len()/2 + 1}, nil
}

func (m *majority) IsQuorum(s timed.Set) bool { return s.Intersect(m.members).Len() >= m.need }

// Votes is the weight of one node in a weighted system.
type Votes struct {
	Node   timed.NodeID
	Weight uint16
}

type weighted struct {
	common
	weight [timed.MaxNodes + 1]uint16
	half   uint32 // half of the total weight, rounded down
}

// Weighted returns the system whose quorums are the sets with more than half of
// the total weight. Weights are at least 1.
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
			return nil, fmt.Errorf("quorum: weight for a node id outside 1 to %d", timed.MaxNodes)
		case members.Has(v.Node):
			return nil, fmt.Errorf("quorum: node %v has two weights", v.Node)
		case v.Weight == 0:
			return nil, fmt.Errorf("quorum: the weight of node %v is 0; omit nodes without a vote", v.Node)
		}
		members.Add(v.Node)
		w.weight[v.Node] = v.Weight
		total += uint32(v.Weight)
	}
	w.half = total / 2
	var parts []string
	for id := range members.All() {
		parts = append(parts, fmt.Sprintf("%v=%d", id, w.weight[id]))
	}
	w.common = newCommon(members, weightedName, strings.Join(parts, ","))
	return w, nil
}

func (w *weighted) IsQuorum(s timed.Set) bool {
	sum := uint32(0) // nodes that are no members weigh 0
	for id := s.Next(0); id != 0; id = s.Next(id) {
		sum += uint32(w.weight[id])
	}
	return sum > w.half
}
