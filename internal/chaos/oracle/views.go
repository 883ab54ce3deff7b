package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// views finds up-to-date views that overlap.
func (h *History) views(group string) (out []Violation) {
	all := h.claims(group, View, false, func(l *Log, r *Record) (string, string) {
		return fmt.Sprint(l.Node), r.View
	})
	for p, q := range collisions(all) {
		if p.claimed != q.claimed && overlap(p.set, q.set) {
			out = append(out, Violation{"up-to-date views are the same or have no member in common",
				fmt.Sprintf("group %s: node %v of %v; node %v of %v", group, p, p.set, q, q.set)})
		}
	}
	return append(out, h.installed(group)...)
}

// installed checks the views that nodes installed: one id has one set of members, the node is
// one of them, and the sequences of an incarnation grow.
func (h *History) installed(group string) (out []Violation) {
	members := map[string][]string{}
	latest := map[string]uint64{}
	for l, r := range h.records(group, Installed) {
		if known, ok := members[r.View]; ok && !slices.Equal(known, r.Members) {
			out = append(out, Violation{"a view id names one view", fmt.Sprintf("group %s: view %s has the members %v and %v", group, r.View, known, r.Members)})
		}
		members[r.View] = r.Members
		self := incarnation(l.Node, r.Boot)
		if !slices.ContainsFunc(r.Members, func(m string) bool { return m == self || strings.HasPrefix(m, self+" ") }) {
			out = append(out, Violation{"a node is a member of its view", fmt.Sprintf("group %s: %s installed view %s of %v", group, self, r.View, r.Members)})
		}
		if r.Sequence <= latest[self] {
			out = append(out, Violation{"view ids grow", fmt.Sprintf("group %s: %s installed view %s after one of sequence %d", group, self, r.View, latest[self])})
		}
		latest[self] = r.Sequence
	}
	return out
}
