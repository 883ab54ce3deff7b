package broadcast

import (
	"github.com/failaware/failaware/clocksync"
)

// logSize is the limit of unstable decisions of a view. A decider at the limit waits.
const logSize = MostDecisions

// slot holds one decision.
type slot struct {
	Decision
	held bool
	left int // deferred messages
}

// decisionLog is a ring of decisions indexed by number.
type decisionLog struct{ ring [logSize]slot }

func (l *decisionLog) at(number uint64) *slot { return &l.ring[number%logSize] }

// put keeps a copy of a decision.
func (l *decisionLog) put(d *Decision) {
	sl := l.at(d.Number)
	ranges := append(sl.Ranges[:0], d.Ranges...)
	*sl = slot{Decision: *d, held: true}
	sl.Ranges = ranges
}

// has reports whether a decision is held.
func (l *decisionLog) has(number uint64) bool {
	sl := l.at(number)
	return sl.held && sl.Number == number
}

// clear drops all decisions and keeps the memory.
func (l *decisionLog) clear() {
	for i := range l.ring {
		l.ring[i].held, l.ring[i].left = false, 0
	}
}

// deferredMessage is an ordered message that waits until no smaller stamp can be ordered.
type deferredMessage struct {
	stamp    clocksync.Time
	seq      uint64 // of its first fragment
	decision uint64
	member   uint8
}

func (a *deferredMessage) before(b *deferredMessage) bool {
	switch {
	case a.stamp != b.stamp:
		return a.stamp < b.stamp
	case a.member != b.member:
		return a.member < b.member // members are in the order of ids
	}
	return a.seq < b.seq
}

// deferredHeap is a binary heap by (stamp, sender, sequence).
type deferredHeap struct{ heap []deferredMessage }

func (h *deferredHeap) push(a deferredMessage) {
	h.heap = append(h.heap, a)
	q, i := h.heap, len(h.heap)-1
	for i > 0 {
		p := (i - 1) / 2
		if !a.before(&q[p]) {
			break
		}
		q[i] = q[p]
		i = p
	}
	q[i] = a
}

// cut replaces stamps after a limit by the limit.
func (h *deferredHeap) cut(limit clocksync.Time) {
	all := h.heap
	h.heap = all[:0]
	for _, a := range all { // each is read before its place is taken
		a.stamp = min(a.stamp, limit)
		h.push(a)
	}
}

func (h *deferredHeap) pop() deferredMessage {
	q := h.heap
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	h.heap = q
	if len(q) == 0 {
		return top
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= len(q) {
			break
		}
		if c+1 < len(q) && q[c+1].before(&q[c]) {
			c++
		}
		if !q[c].before(&last) {
			break
		}
		q[i] = q[c]
		i = c
	}
	q[i] = last
	return top
}
