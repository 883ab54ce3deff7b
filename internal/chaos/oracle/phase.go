package oracle

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// claim is a claim that one process made over some time. The claim held at some instant
// before begin, at some instant after last, and at all instants between the two: begin is
// the clock after the first answer, and last the clock before the last one. A single
// answer has last before begin.
type claim struct {
	incarnation string // makes the claim, or is supported
	claimed     string // what is claimed
	set         []int
	begin       int64
	last        int64
}

func (p *claim) String() string {
	if p.last < p.begin {
		return fmt.Sprintf("%s: %s, once in [%d, %d]", p.incarnation, p.claimed, p.last, p.begin)
	}
	return fmt.Sprintf("%s: %s, all over [%d, %d]", p.incarnation, p.claimed, p.begin, p.last)
}

// meets reports whether two claims surely held at one instant.
func (p *claim) meets(q *claim) bool { return p.last > q.begin && q.last > p.begin }

// trusted is how much of a duration on a node's clock surely passes on the common one.
func trusted(d int64) int64 { return d - d/1000 }

// claims joins the answers of each process to claims. keyOf returns who makes the claim
// and what it is. lasting says that equal answers are of one uninterrupted claim; otherwise
// they are if the next one came while the one before still held.
func (h *History) claims(group, kind string, lasting bool, keyOf func(*Log, *Record) (who, key string)) (out []claim) {
	var of *Log
	var before *Record
	for l, r := range h.records(group, kind) {
		who, key := keyOf(l, r)
		joins := of == l && len(out) > 0 && out[len(out)-1].incarnation == who && out[len(out)-1].claimed == key &&
			(lasting || r.To <= before.From+trusted(before.AtMost))
		if joins {
			out[len(out)-1].last = r.From
		} else {
			out = append(out, claim{incarnation: who, claimed: key, set: r.Set, begin: r.To, last: r.From})
		}
		of, before = l, r
	}
	return out
}

// collisions yields all pairs of claims that surely held at one instant. It sorts the claims.
func collisions(all []claim) iter.Seq2[*claim, *claim] {
	slices.SortFunc(all, func(a, b claim) int { return cmp.Compare(a.begin, b.begin) })
	return func(yield func(p, q *claim) bool) {
		var active []*claim
		for i := range all {
			p := &all[i]
			active = slices.DeleteFunc(active, func(q *claim) bool { return q.last <= p.begin })
			for _, q := range active {
				if p.meets(q) && !yield(q, p) {
					return
				}
			}
			active = append(active, p)
		}
	}
}

// overlap reports whether two sets have a node in common.
func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}
