package timed

import (
	"iter"
	"math/bits"
)

// Set is a set of node ids as a bitset of fixed size. It is comparable with
// ==, and iterates in the order of ids, so that no map order ever reaches a
// message. The zero Set is empty.
//
// Its words are fields and not an array, because Go keeps a struct of four
// words in registers and an array in memory; sets are at work in every turn.
type Set struct{ w0, w1, w2, w3 uint64 }

// SetOf returns the set of the given ids; NoNode is left out.
func SetOf(ids ...NodeID) Set {
	var s Set
	for _, id := range ids {
		s.Add(id)
	}
	return s
}

// Add puts id into the set. Adding NoNode does nothing.
func (s *Set) Add(id NodeID) { *s = s.With(id) }

// Remove takes id out of the set.
func (s *Set) Remove(id NodeID) { *s = s.Without(id) }

// Has reports whether id is in the set.
func (s Set) Has(id NodeID) bool { return s.word(id)>>(id&63)&1 != 0 }

// word returns the word that id's bit is in.
func (s Set) word(id NodeID) uint64 {
	switch id >> 6 {
	case 0:
		return s.w0
	case 1:
		return s.w1
	case 2:
		return s.w2
	}
	return s.w3
}

// With returns the set with id added; NoNode is left out.
func (s Set) With(id NodeID) Set {
	bit := uint64(1) << (id & 63)
	switch id >> 6 {
	case 0:
		s.w0 |= bit &^ 1 // bit 0 would be NoNode
	case 1:
		s.w1 |= bit
	case 2:
		s.w2 |= bit
	default:
		s.w3 |= bit
	}
	return s
}

// Without returns the set with id removed.
func (s Set) Without(id NodeID) Set {
	bit := uint64(1) << (id & 63)
	switch id >> 6 {
	case 0:
		s.w0 &^= bit
	case 1:
		s.w1 &^= bit
	case 2:
		s.w2 &^= bit
	default:
		s.w3 &^= bit
	}
	return s
}

// Empty reports whether the set has no element.
func (s Set) Empty() bool { return s.w0|s.w1|s.w2|s.w3 == 0 }

// Len returns the number of elements.
func (s Set) Len() int {
	return bits.OnesCount64(s.w0) + bits.OnesCount64(s.w1) + bits.OnesCount64(s.w2) + bits.OnesCount64(s.w3)
}

// Rank returns how many elements are smaller than id: the place of id in a list
// of the elements in ascending order.
func (s Set) Rank(id NodeID) int {
	n := bits.OnesCount64(s.word(id) & (1<<(id&63) - 1))
	switch id >> 6 {
	case 3:
		n += bits.OnesCount64(s.w2)
		fallthrough
	case 2:
		n += bits.OnesCount64(s.w1)
		fallthrough
	case 1:
		n += bits.OnesCount64(s.w0)
	}
	return n
}

// Union returns the elements of either set.
func (s Set) Union(t Set) Set {
	return Set{s.w0 | t.w0, s.w1 | t.w1, s.w2 | t.w2, s.w3 | t.w3}
}

// Intersect returns the elements of both sets.
func (s Set) Intersect(t Set) Set {
	return Set{s.w0 & t.w0, s.w1 & t.w1, s.w2 & t.w2, s.w3 & t.w3}
}

// Minus returns the elements of s that are not in t.
func (s Set) Minus(t Set) Set {
	return Set{s.w0 &^ t.w0, s.w1 &^ t.w1, s.w2 &^ t.w2, s.w3 &^ t.w3}
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
	rest := uint64(0) // of id's own word, above id
	if b := uint(id&63) + 1; b < 64 {
		rest = s.word(id) >> b << b
	}
	if rest != 0 {
		return id&^63 + NodeID(bits.TrailingZeros64(rest))
	}
	switch w := id >> 6; {
	case w < 1 && s.w1 != 0:
		return 64 + NodeID(bits.TrailingZeros64(s.w1))
	case w < 2 && s.w2 != 0:
		return 128 + NodeID(bits.TrailingZeros64(s.w2))
	case w < 3 && s.w3 != 0:
		return 192 + NodeID(bits.TrailingZeros64(s.w3))
	}
	return NoNode
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

// Words returns the set as bits, those of the ids 0 to 63 first.
func (s Set) Words() [4]uint64 { return [4]uint64{s.w0, s.w1, s.w2, s.w3} }

// SetOfWords is the inverse of [Set.Words]; the bit of NoNode is left out.
func SetOfWords(w [4]uint64) Set { return Set{w[0] &^ 1, w[1], w[2], w[3]} }
