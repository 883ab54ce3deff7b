package timed

import (
	"iter"
	"math/bits"
	"strings"
)

// Set is a set of node ids as a bitset of fixed size. It is comparable with
// ==, and iterates in the order of ids, so that no map order ever reaches a
// message. The zero Set is empty.
type Set [4]uint64

// SetOf returns the set of the given ids; NoNode is left out.
func SetOf(ids ...NodeID) Set {
	var s Set
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// Add puts id into the set. Adding NoNode does nothing.
func (s *Set) Add(id NodeID) {
	if id != NoNode {
		s[id>>6] |= 1 << (id & 63)
	}
}

// Remove takes id out of the set.
func (s *Set) Remove(id NodeID) { s[id>>6] &^= 1 << (id & 63) }

// Has reports whether id is in the set.
func (s Set) Has(id NodeID) bool { return s[id>>6]&(1<<(id&63)) != 0 }

// With returns the set with id added.
func (s Set) With(id NodeID) Set { s.Add(id); return s }

// Without returns the set with id removed.
func (s Set) Without(id NodeID) Set { s.Remove(id); return s }

// Empty reports whether the set has no element.
func (s Set) Empty() bool { return s == Set{} }

// Len returns the number of elements.
func (s Set) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// Union returns the elements of either set.
func (s Set) Union(t Set) Set {
	return Set{s[0] | t[0], s[1] | t[1], s[2] | t[2], s[3] | t[3]}
}

// Intersect returns the elements of both sets.
func (s Set) Intersect(t Set) Set {
	return Set{s[0] & t[0], s[1] & t[1], s[2] & t[2], s[3] & t[3]}
}

// Minus returns the elements of s that are not in t.
func (s Set) Minus(t Set) Set {
	return Set{s[0] &^ t[0], s[1] &^ t[1], s[2] &^ t[2], s[3] &^ t[3]}
}

// Subset reports whether every element of s is in t.
func (s Set) Subset(t Set) bool { return s.Minus(t).Empty() }

// Intersects reports whether the sets have an element in common.
func (s Set) Intersects(t Set) bool { return !s.Intersect(t).Empty() }

// Min returns the smallest id of the set, or NoNode.
func (s Set) Min() NodeID { return s.Next(NoNode) }

// Next returns the smallest id of the set that is larger than id, or NoNode. It
// is the allocation-free way to walk a set:
//
//	for id := s.Next(0); id != 0; id = s.Next(id) { … }
func (s Set) Next(id NodeID) NodeID {
	w := int(id >> 6)
	b := uint(id&63) + 1
	word := uint64(0)
	if b < 64 {
		word = s[w] >> b << b
	}
	for {
		if word != 0 {
			return NodeID(w<<6 + bits.TrailingZeros64(word))
		}
		if w++; w == len(s) {
			return NoNode
		}
		word = s[w]
	}
}

// All iterates over the ids in ascending order.
func (s Set) All() iter.Seq[NodeID] {
	return func(yield func(NodeID) bool) {
		for id := s.Next(NoNode); id != NoNode; id = s.Next(id) {
			if !yield(id) {
				return
			}
		}
	}
}

// String lists the ids, as in "{1 2 7}".
func (s Set) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for id := s.Next(NoNode); id != NoNode; id = s.Next(id) {
		if b.Len() > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(id.String())
	}
	b.WriteByte('}')
	return b.String()
}
