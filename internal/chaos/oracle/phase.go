package oracle

import (
	"cmp"
	"fmt"
	"slices"
)

// phase is a claim that one process made over some time. The claim held at some instant
// before begin, at some instant after last, and at all instants between the two: begin is
// the clock after the first answer, and last the clock before the last one. A single
// answer has last before begin.
type phase struct {
	who   string // makes the claim, or is supported
	key   string // what is claimed
	set   []int
	begin int64
	last  int64
}

func (p *phase) String() string {
	if p.last < p.begin {
		return fmt.Sprintf("%s: %s, once in [%d, %d]", p.who, p.key, p.last, p.begin)
	}
	return fmt.Sprintf("%s: %s, all over [%d, %d]", p.who, p.key, p.begin, p.last)
}

// meets reports whether two claims surely held at one instant.
func (p *phase) meets(q *phase) bool { return p.last > q.begin && q.last > p.begin }

// trusted is how much of a duration on a node's clock surely passes on the common one.
func trusted(d int64) int64 { return d - d/1000 }

// phases joins the answers of each process to claims. keyOf returns who makes the claim
// and what it is. lasting says that equal answers are of one uninterrupted claim; otherwise
// they are if the next one came while the one before still held.
func (h *History) phases(group, kind string, lasting bool, keyOf func(*Log, *Record) (who, key string)) (out []phase) {
	var of *Log
	var before *Record
	h.each(group, kind, func(l *Log, r *Record) {
		who, key := keyOf(l, r)
		joins := of == l && len(out) > 0 && out[len(out)-1].who == who && out[len(out)-1].key == key &&
			(lasting || r.To <= before.From+trusted(before.AtMost))
		if joins {
			out[len(out)-1].last = r.From
		} else {
			out = append(out, phase{who: who, key: key, set: r.Set, begin: r.To, last: r.From})
		}
		of, before = l, r
	})
	return out
}

// collide calls f with all pairs of claims that surely held at one instant.
func collide(all []phase, f func(p, q *phase)) {
	slices.SortFunc(all, func(a, b phase) int { return cmp.Compare(a.begin, b.begin) })
	var active []*phase
	for i := range all {
		p := &all[i]
		kept := active[:0]
		for _, q := range active {
			if q.last <= p.begin {
				continue
			}
			kept = append(kept, q)
			if p.meets(q) {
				f(q, p)
			}
		}
		active = append(kept, p)
	}
}

// overlap reports whether two sets have a node in common.
func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}
