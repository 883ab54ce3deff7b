package oracle

import "fmt"

// leads returns the claims of nodes to lead globally: answers, and contexts for the work of a
// leader.
func (h *History) leads(group string) []phase {
	all := h.phases(group, Global, true, func(l *Log, r *Record) (string, string) {
		return who(l.Node, r.Boot), fmt.Sprintf("leads globally since %d", r.Since)
	})
	return append(all, h.phases(group, Context, true, func(l *Log, r *Record) (string, string) {
		return who(l.Node, r.Boot), fmt.Sprintf("its context %d for the global lead has not ended", r.Number)
	})...)
}

// globalLeaders finds two nodes that led globally at one instant, or against a hold.
func (h *History) globalLeaders(group string) (out []Violation) {
	all := h.leads(group)
	h.each(group, Hold, func(l *Log, r *Record) {
		all = append(all, phase{who: who(l.Node, r.Boot), key: "holds the global lead", begin: r.To, last: r.Until})
	})
	collide(all, func(p, q *phase) {
		if p.who != q.who {
			out = append(out, Violation{"one global leader at a time", fmt.Sprintf("group %s: %v; %v", group, p, q)})
		}
	})
	return out
}

// supports finds nodes that supported two leaders at one instant, by the leaders' answers
// or their own.
func (h *History) supports(group string) (out []Violation) {
	perNode := map[int][]phase{}
	leads := h.phases(group, Lead, false, func(l *Log, r *Record) (string, string) {
		return who(l.Node, r.Boot), fmt.Sprintf("leads since %d with the support of %v", r.Since, r.Set)
	})
	for _, p := range leads {
		for _, id := range p.set {
			perNode[id] = append(perNode[id], p)
		}
	}
	for _, l := range h.Logs {
		own := &History{Logs: []*Log{l}}
		perNode[l.Node] = append(perNode[l.Node], own.phases(group, Follow, false, func(l *Log, r *Record) (string, string) {
			return r.Leader, fmt.Sprintf("node %d says that it supports it", l.Node)
		})...)
		own.each(group, HoldLocal, func(_ *Log, r *Record) {
			perNode[l.Node] = append(perNode[l.Node], phase{who: who(l.Node, r.Boot), key: "holds the lead", begin: r.To, last: r.Until})
		})
	}
	for id, claims := range perNode {
		collide(claims, func(p, q *phase) {
			if p.who != q.who {
				out = append(out, Violation{"a node supports one leader at a time",
					fmt.Sprintf("group %s: node %d supports two: %v; %v", group, id, p, q)})
			}
		})
	}
	return append(out, h.selfSupport(group)...)
}

// selfSupport finds leaders that do not support themselves.
func (h *History) selfSupport(group string) (out []Violation) {
	h.each(group, Lead, func(l *Log, r *Record) {
		if !overlap(r.Set, []int{l.Node}) {
			out = append(out, Violation{"a leader supports itself", fmt.Sprintf("group %s: node %d leads with the support of %v at %d", group, l.Node, r.Set, r.From)})
		}
	})
	return out
}
