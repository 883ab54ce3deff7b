// Package seqlock hands a few numbers from one goroutine to many, without a lock.
package seqlock

import "sync/atomic"

// Size is how many numbers there are.
const Size = 8

// Numbers are numbers that change together. The zero value is ready for use. One goroutine
// at a time calls Store; any may call Load.
type Numbers struct {
	turn   atomic.Uint64 // odd while Store runs
	values [Size]atomic.Uint64
}

// Store replaces the numbers.
func (n *Numbers) Store(v *[Size]uint64) {
	n.turn.Add(1)
	for i := range v {
		n.values[i].Store(v[i])
	}
	n.turn.Add(1)
}

// tries is how often Load looks again. Store takes some nanoseconds, unless its goroutine
// is stopped meanwhile.
const tries = 64

// Load fills in the numbers of one call of Store, or zeros before the first. ok is false,
// and v has no meaning, if all attempts met a call of Store.
func (n *Numbers) Load(v *[Size]uint64) (ok bool) {
	for range tries {
		turn := n.turn.Load()
		for i := range v {
			v[i] = n.values[i].Load()
		}
		if turn%2 == 0 && n.turn.Load() == turn {
			return true
		}
	}
	return false
}
