package oracle

import "fmt"

// rollbacks finds nodes that are said to lack what they have acknowledged, although nobody has
// touched their disks.
func (h *History) rollbacks(group string) (out []Violation) {
	since := map[int]int64{} // when a disk lost something first
	for _, kind := range []string{Wiped, Rewound} {
		for _, r := range h.records("", kind) {
			if at, known := since[int(r.Number)]; !known || r.From < at {
				since[int(r.Number)] = r.From
			}
		}
	}
	for l, r := range h.records(group, RolledBack) {
		for _, node := range r.Set {
			if at, known := since[node]; !known || r.To < at {
				out = append(out, Violation{"no disk is accused that has all", fmt.Sprintf("group %s: node %d says so of node %d at %d", group, l.Node, node, r.To)})
			}
		}
	}
	return out
}
