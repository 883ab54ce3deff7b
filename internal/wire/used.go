package wire

import (
	"math"

	"github.com/failaware/failaware/timed"
)

// A used frame is an array of four words of 64 bits: the ids that have their bits set are
// in use. It goes with the frame InUse, so that a node that looks for an id that is free
// does not have to try them all.
const usedLen = 4

func (w *writer) used(ids timed.Set) {
	w.open(typeUsed, usedLen)
	var words [usedLen]uint64
	for id := range ids.All() {
		words[id/64] |= 1 << (id % 64)
	}
	for _, x := range words {
		w.uint(x, 0, math.MaxUint64)
	}
	w.close()
}

func (r *reader) used() (ids timed.Set) {
	r.array(usedLen, usedLen)
	for i := range usedLen {
		x := r.uint(0, math.MaxUint64)
		for bit := range 64 {
			if x&(1<<bit) == 0 {
				continue
			}
			if i == 0 && bit == 0 {
				r.fail(ErrRange) // no node has the id 0
				return ids
			}
			ids.Add(timed.NodeID(64*i + bit))
		}
	}
	return ids
}
