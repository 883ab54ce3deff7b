package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// globalClaims returns the claims of nodes to lead globally: answers, and contexts for the work of a
// leader.
func (h *History) globalClaims(group string) []claim {
	all := h.claims(group, Global, true, func(l *Log, r *Record) (string, string) {
		return incarnation(l.Node, r.Boot), fmt.Sprintf("leads globally since %d", r.Since)
	})
	return append(all, h.claims(group, Context, true, func(l *Log, r *Record) (string, string) {
		return incarnation(l.Node, r.Boot), fmt.Sprintf("its context %d for the global lead has not ended", r.Number)
	})...)
}

// globalLeaders finds two nodes that led globally at one instant, or against a hold.
func (h *History) globalLeaders(group string) (out []Violation) {
	all := h.globalClaims(group)
	for l, r := range h.records(group, Hold) {
		all = append(all, claim{incarnation: incarnation(l.Node, r.Boot), claimed: "holds the global lead", begin: r.To, last: r.Until})
	}
	for p, q := range collisions(all) {
		if p.incarnation != q.incarnation {
			out = append(out, Violation{"one global leader at a time", fmt.Sprintf("group %s: %v; %v", group, p, q)})
		}
	}
	return out
}

// supports finds nodes that supported two leaders at one instant, by the leaders' answers
// or their own.
func (h *History) supports(group string) (out []Violation) {
	perNode := map[int][]claim{}
	for _, l := range h.Logs {
		own := &History{Logs: []*Log{l.leadsAndFollows()}}
		for _, p := range own.claims(group, leadOrFollow, false, supported) {
			if len(p.set) == 0 {
				perNode[l.Node] = append(perNode[l.Node], p)
			}
			for _, id := range p.set {
				perNode[id] = append(perNode[id], p)
			}
		}
		for r := range l.records(group, HoldLocal) {
			perNode[l.Node] = append(perNode[l.Node], claim{incarnation: incarnation(l.Node, r.Boot), claimed: "holds the lead", begin: r.To, last: r.Until})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(perNode)) {
		for p, q := range collisions(perNode[id]) {
			if p.incarnation != q.incarnation {
				out = append(out, Violation{"a node supports one leader at a time",
					fmt.Sprintf("group %s: node %d supports two: %v; %v", group, id, p, q)})
			}
		}
	}
	return append(out, h.selfSupport(group)...)
}

// leadOrFollow is the kind of the records of leadsAndFollows.
const leadOrFollow = "lead or follow"

// leadsAndFollows returns the answers about the lead in the order of time. A node that
// hands over may follow the same leader again before its last answer would have ended: its
// own lead is between the two.
func (l *Log) leadsAndFollows() *Log {
	out := &Log{Node: l.Node, Process: l.Process}
	for _, r := range l.Records {
		if r.Kind == Lead || r.Kind == Follow {
			r.Kind = leadOrFollow
			out.Records = append(out.Records, r)
		}
	}
	slices.SortStableFunc(out.Records, func(a, b Record) int { return cmp.Compare(a.From, b.From) })
	return out
}

// supported returns the leader that an answer about the lead supports, and the claim.
func supported(l *Log, r *Record) (string, string) {
	if r.Leader != "" {
		return r.Leader, fmt.Sprintf("node %d says that it supports it", l.Node)
	}
	return incarnation(l.Node, r.Boot), fmt.Sprintf("leads since %d with the support of %v", r.Since, r.Set)
}

// selfSupport finds leaders that do not support themselves.
func (h *History) selfSupport(group string) (out []Violation) {
	for l, r := range h.records(group, Lead) {
		if !slices.Contains(r.Set, l.Node) {
			out = append(out, Violation{"a leader supports itself", fmt.Sprintf("group %s: node %d leads with the support of %v at %d", group, l.Node, r.Set, r.From)})
		}
	}
	return out
}
