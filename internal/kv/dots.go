package kv

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Dot names a command: the process that submitted it, which has drawn its name, and the
// number of the command there, from 1 on.
type Dot struct{ Writer, Number uint64 }

// String returns the dot as users see it, for example as the id of a lease.
func (d Dot) String() string { return fmt.Sprintf("%016x.%d", d.Writer, d.Number) }

// ParseDot parses a dot.
func ParseDot(s string) (d Dot, err error) {
	var rest string
	n, _ := fmt.Sscanf(strings.Replace(s, ".", " ", 1)+" ", "%x %d%s", &d.Writer, &d.Number, &rest)
	if n != 2 || d.String() != s {
		return Dot{}, fmt.Errorf("%.60q is not an id such as 00f1a2b3c4d5e6f7.12", s)
	}
	return d, nil
}

// compare orders dots.
func (d Dot) compare(o Dot) int {
	return cmp.Or(cmp.Compare(d.Writer, o.Writer), cmp.Compare(d.Number, o.Number))
}

// span is a range of numbers, both ends included.
type span struct{ first, last uint64 }

// known are the dots of one writer that a state has seen.
type known struct {
	spans []span // in order; between two of them, a number is missing
	used  uint64 // when the last one was added
}

// dots is a set of dots. It forgets those of the writer that was silent for longest if there
// are too many writers. If the numbers of a writer have too many gaps, it closes the lowest one
// and has the numbers there too: their commands had no effect, or were lost long ago. To forget
// what is below would be worse: a merger would not know that those writes have been replaced.
type dots struct {
	writers index[uint64, *known]
	clock   uint64
}

// has reports whether a dot is in the set.
func (s *dots) has(d Dot) bool {
	k, found := s.writers.get(d.Writer)
	if !found {
		return false
	}
	i, exact := k.find(d.Number)
	return exact || i < len(k.spans) && k.spans[i].first <= d.Number
}

// find returns the first span that ends at a number or after it.
func (k *known) find(n uint64) (int, bool) {
	return slices.BinarySearchFunc(k.spans, n, func(s span, n uint64) int { return cmp.Compare(s.last, n) })
}

// add adds a dot.
func (s *dots) add(d Dot) {
	k, found := s.writers.get(d.Writer)
	if !found {
		if s.writers.n >= maxWriters {
			s.forget(1)
		}
		k = &known{}
		s.writers.set(d.Writer, k)
	}
	s.clock++
	k.used = s.clock
	k.insert(span{d.Number, d.Number})
}

// insert adds a range of dots.
func (k *known) insert(n span) {
	from := 0
	if n.first > 1 {
		from, _ = k.find(n.first - 1) // a span that ends there grows
	}
	to := from
	for to < len(k.spans) && k.spans[to].first <= n.last+1 {
		n.first, n.last = min(n.first, k.spans[to].first), max(n.last, k.spans[to].last)
		to++
	}
	k.spans = insert(slices.Delete(k.spans, from, to), from, n)
	if len(k.spans) > maxSpans {
		k.spans[1].first = k.spans[0].first
		k.spans = slices.Delete(k.spans, 0, 1)
	}
}

// forget drops the writers that were silent for longest, so many of them.
func (s *dots) forget(many int) {
	type silent struct{ writer, since uint64 }
	var all []silent
	for w, k := range s.writers.all() {
		all = append(all, silent{w, k.used})
	}
	slices.SortFunc(all, func(a, b silent) int { return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.writer, b.writer)) })
	for _, x := range all[:many] {
		s.writers.remove(x.writer)
	}
}

// join adds all dots of another set. A writer is silent since its last dot in either: the clocks
// of both went on from a common one, if the sets are of parts of one group.
func (s *dots) join(o *dots) {
	s.clock = max(s.clock, o.clock)
	for w, other := range o.writers.all() {
		k, found := s.writers.get(w)
		if !found {
			k = &known{}
			s.writers.set(w, k)
		}
		k.used = max(k.used, other.used)
		for _, n := range other.spans {
			k.insert(n)
		}
	}
	s.forget(max(0, s.writers.n-maxWriters))
}
