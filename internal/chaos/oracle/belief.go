package oracle

import "time"

// NextLeader returns when a node other than leader was first heard to lead globally after an
// instant, or 0.
func (h *History) NextLeader(group string, leader int, after int64) (next int64) {
	for _, kind := range []string{Global, Context} {
		h.each(group, kind, func(l *Log, r *Record) {
			if l.Node != leader && r.From >= after && (next == 0 || r.To < next) {
				next = r.To
			}
		})
	}
	return next
}

// LongestOverlap returns the longest time for which two nodes surely led globally, by their
// answers and contexts.
func (h *History) LongestOverlap(group string) (longest time.Duration) {
	all := h.leads(group)
	collide(all, func(p, q *phase) {
		if p.who != q.who {
			longest = max(longest, time.Duration(min(p.last, q.last)-max(p.begin, q.begin)))
		}
	})
	return longest
}
