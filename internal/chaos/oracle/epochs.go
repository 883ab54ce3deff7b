package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// epochs finds epochs that two quorum systems rule, and nodes that returned to an earlier
// epoch. A node that has lost its disk may.
func (h *History) epochs(group string) (out []Violation) {
	rules := map[uint64]string{}
	type answer struct {
		at    int64
		epoch uint64 // 0: the disk was lost
	}
	perNode := map[int][]answer{}
	for l, r := range h.records(group, Epoch) {
		perNode[l.Node] = append(perNode[l.Node], answer{r.From, r.Epoch})
		switch text, known := rules[r.Epoch]; {
		case !known:
			rules[r.Epoch] = r.Text
		case text != r.Text:
			out = append(out, Violation{"one quorum system rules an epoch", fmt.Sprintf("group %s: node %d is in epoch %d of %s, another in that of %s", group, l.Node, r.Epoch, r.Text, text)})
		}
	}
	for _, r := range h.records("", Wiped) {
		perNode[int(r.Number)] = append(perNode[int(r.Number)], answer{at: r.From})
	}
	for _, node := range slices.Sorted(maps.Keys(perNode)) {
		list := perNode[node]
		slices.SortStableFunc(list, func(a, b answer) int { return cmp.Compare(a.at, b.at) })
		for i := 1; i < len(list); i++ {
			if a, b := list[i-1], list[i]; b.epoch != 0 && b.epoch < a.epoch {
				out = append(out, Violation{"a node never returns to an earlier epoch", fmt.Sprintf("group %s: node %d is in epoch %d at %d, and was in epoch %d", group, node, b.epoch, b.at, a.epoch)})
			}
		}
	}
	return out
}
