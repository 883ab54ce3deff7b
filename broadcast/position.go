package broadcast

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

// MostIncarnations is how many incarnations of one absent node have a position.
const MostIncarnations = 8

// positions says how far the messages of each node were ordered, or delivered. Messages
// are of incarnations. A member of the view has one position, because its earlier
// incarnations have ended. An absent node may have several: members that were apart may
// have met different incarnations of it, and nobody knows which of them still runs.
type positions [timed.MaxNodes + 1][]Mark

// of returns the position of an incarnation, or 0.
func (p *positions) of(i timed.Incarnation) uint64 { return find(p[i.Node], i) }

// set sets the position of a member. It ends those of its other incarnations.
func (p *positions) set(m Mark) { p[m.Node] = append(p[m.Node][:0], m) }

// add takes positions that others have reported. The largest of an incarnation counts.
func (p *positions) add(marks []Mark) {
	for _, m := range marks {
		p[m.Node] = AddMark(p[m.Node], m)
	}
}

// AddMark adds a position to a list, or raises the one that the incarnation has there. A
// node has at most MostIncarnations of them. It may change the list.
func AddMark(marks []Mark, m Mark) []Mark {
	others := 0
	for i := range marks {
		o := &marks[i]
		switch {
		case o.Node != m.Node:
		case o.Boot == m.Boot:
			o.Sequence = max(o.Sequence, m.Sequence)
			return marks
		default:
			others++
		}
	}
	if others == MostIncarnations {
		return marks
	}
	return append(marks, m)
}

// forgot reports whether a position of a node's incarnation may have been left out, because
// the node has too many. One that is there may be smaller: it is what the incarnation itself
// knows, and others have ordered more.
func (p *positions) forgot(node timed.NodeID) bool { return len(p[node]) == MostIncarnations }

// list returns all positions that are not 0.
func (p *positions) list() []Mark {
	var out []Mark
	for _, of := range p {
		for _, m := range of {
			if m.Sequence > 0 {
				out = append(out, m)
			}
		}
	}
	return slices.Clip(out)
}

// find returns the sequence of an incarnation in a list of marks, or 0.
func find(marks []Mark, of timed.Incarnation) uint64 {
	for _, m := range marks {
		if m.Node == of.Node && m.Boot == of.Boot {
			return m.Sequence
		}
	}
	return 0
}
