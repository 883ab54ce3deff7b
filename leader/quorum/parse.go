package quorum

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/failaware/failaware/timed"
)

// MaxText is the length of the longest text that [Parse] accepts, in bytes.
const MaxText = 1 << 16

// Parse reads the text of a system:
//
//	majority:1,2,3,4,5      more than half of the members
//	weighted:1=2,2=1,3=1    more than half of the weights
//	grid:1,2,3/4,5,6        a whole row and a member of every other row
//	explicit:1,2/2,3/1,3    the minimal quorums
//
// Order does not matter. Spaces around ids are ignored.
func Parse(text string) (System, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("quorum: the text has %d bytes, more than %d", len(text), MaxText)
	}
	name, list, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok {
		return nil, fmt.Errorf("quorum: %q is not like majority:1,2,3", text)
	}
	switch name {
	case majorityName:
		members, err := parseSet(list)
		if err != nil {
			return nil, err
		}
		return Majority(members)
	case weightedName:
		votes, err := parseVotes(list)
		if err != nil {
			return nil, err
		}
		return Weighted(votes...)
	case gridName:
		rows, err := parseSets(list)
		if err != nil {
			return nil, err
		}
		return Grid(rows...)
	case explicitName:
		quorums, err := parseSets(list)
		if err != nil {
			return nil, err
		}
		return Explicit(quorums...)
	}
	return nil, fmt.Errorf("quorum: %q is none of %s, %s, %s and %s", name, majorityName, weightedName, gridName, explicitName)
}

func parseSets(text string) (all []timed.Set, err error) {
	for part := range strings.SplitSeq(text, "/") {
		s, err := parseSet(part)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func parseSet(text string) (s timed.Set, err error) {
	for part := range strings.SplitSeq(text, ",") {
		id, err := parseID(part)
		if err != nil {
			return s, err
		}
		if s.Has(id) {
			return s, fmt.Errorf("quorum: node %v is listed twice in %q", id, text)
		}
		s.Add(id)
	}
	return s, nil
}

func parseVotes(text string) (votes []Votes, err error) {
	for part := range strings.SplitSeq(text, ",") {
		node, weight, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("quorum: %q is not like 1=2, a node id and its weight", part)
		}
		id, err := parseID(node)
		if err != nil {
			return nil, err
		}
		w, err := strconv.ParseUint(strings.TrimSpace(weight), 10, 16)
		if err != nil {
			return nil, fmt.Errorf("quorum: the weight %q of node %v is not a number from 1 to %d", weight, id, 1<<16-1)
		}
		votes = append(votes, Votes{id, uint16(w)})
	}
	return votes, nil
}

func parseID(text string) (timed.NodeID, error) {
	id, err := timed.ParseNodeID(strings.TrimSpace(text))
	if err != nil {
		return id, fmt.Errorf("quorum: %w", err)
	}
	return id, nil
}
