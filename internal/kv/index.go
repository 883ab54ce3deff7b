package kv

import (
	"cmp"
	"iter"
	"slices"
)

// blockItems is how many items a block of an index has at most.
const blockItems = 512

// index is a list of items in the order of their keys. It is made of blocks, so that an
// insertion moves few items.
type index[K cmp.Ordered, V any] struct {
	blocks [][]item[K, V] // none is empty
	n      int
}

type item[K cmp.Ordered, V any] struct {
	key   K
	value V
}

// find returns the place of a key, or the one where it belongs.
func (x *index[K, V]) find(key K) (block, at int, found bool) {
	block, _ = slices.BinarySearchFunc(x.blocks, key, func(b []item[K, V], k K) int { return cmp.Compare(b[len(b)-1].key, k) })
	if block == len(x.blocks) {
		return block, 0, false
	}
	at, found = slices.BinarySearchFunc(x.blocks[block], key, func(i item[K, V], k K) int { return cmp.Compare(i.key, k) })
	return block, at, found
}

// get returns the value of a key, or the zero value.
func (x *index[K, V]) get(key K) (v V, found bool) {
	block, at, found := x.find(key)
	if found {
		v = x.blocks[block][at].value
	}
	return v, found
}

// set inserts a key, or replaces its value.
func (x *index[K, V]) set(key K, v V) {
	block, at, found := x.find(key)
	if found {
		x.blocks[block][at].value = v
		return
	}
	x.n++
	if len(x.blocks) == 0 {
		x.blocks = [][]item[K, V]{{{key, v}}}
		return
	}
	if block == len(x.blocks) { // it follows the last key
		block--
		at = len(x.blocks[block])
	}
	b := insert(x.blocks[block], at, item[K, V]{key, v})
	x.blocks[block] = b
	if len(b) > blockItems {
		half := len(b) / 2
		x.blocks[block] = slices.Clone(b[:half])
		x.blocks = insert(x.blocks, block+1, slices.Clone(b[half:]))
	}
}

// insert inserts one element. For the seven types of this package, slices.Insert makes the
// program larger by 25 KB.
func insert[T any](list []T, at int, x T) []T {
	list = append(list, x)
	copy(list[at+1:], list[at:])
	list[at] = x
	return list
}

// remove removes a key, if it is there.
func (x *index[K, V]) remove(key K) {
	block, at, found := x.find(key)
	if !found {
		return
	}
	x.n--
	if b := slices.Delete(x.blocks[block], at, at+1); len(b) > 0 {
		x.blocks[block] = b
	} else {
		x.blocks = slices.Delete(x.blocks, block, block+1)
	}
}

// from iterates over the items from a key on. The index must not change meanwhile.
func (x *index[K, V]) from(key K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		block, at, _ := x.find(key)
		for ; block < len(x.blocks); block, at = block+1, 0 {
			for _, i := range x.blocks[block][at:] {
				if !yield(i.key, i.value) {
					return
				}
			}
		}
	}
}

// all iterates over all items.
func (x *index[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, b := range x.blocks {
			for _, i := range b {
				if !yield(i.key, i.value) {
					return
				}
			}
		}
	}
}
